"""From what the caller wrote to token ids: messages, stop strings, prompt assembly."""
