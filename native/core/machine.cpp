#include "machine.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif
#ifndef _WIN32
#include <unistd.h>
#endif

namespace llamaint {

namespace {

std::string first_line(const std::string & path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::optional<uint64_t> number_in(const std::string & path) {
    const std::string line = first_line(path);
    if (line.empty() || line.find_first_not_of("0123456789") != std::string::npos) {
        return std::nullopt;
    }
    return std::strtoull(line.c_str(), nullptr, 10);
}

// This process's group and its parents, innermost first, under the mount of cgroup v2 ("" as
// controller) or of one v1 controller. Inside a container the listed path may not exist: the mount's
// root is then the group itself.
std::vector<std::string> cgroup_dirs(const std::string & controller) {
    std::ifstream file("/proc/self/cgroup");
    std::string path;
    for (std::string line; std::getline(file, line);) {
        const size_t first = line.find(':');
        const size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) {
            continue;
        }
        const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
        if (controller.empty() ? names == ",," : names.find("," + controller + ",") != std::string::npos) {
            path = line.substr(second + 1);
        }
    }
    const std::string mount = "/sys/fs/cgroup" + (controller.empty() ? "" : "/" + controller);
    std::vector<std::string> dirs;
    while (!path.empty() && path != "/") {
        dirs.push_back(mount + path);
        path.erase(path.find_last_of('/'));
    }
    dirs.push_back(mount);
    return dirs;
}

double cgroup_cpus() {
    double cpus = 1e9;
    for (const auto & dir : cgroup_dirs("")) {
        std::istringstream line(first_line(dir + "/cpu.max"));
        double quota = 0;
        double period = 0;
        if (line >> quota >> period && quota > 0 && period > 0) {
            cpus = std::min(cpus, quota / period);
        }
    }
    for (const auto & dir : cgroup_dirs("cpu")) {
        const auto quota = number_in(dir + "/cpu.cfs_quota_us");
        const auto period = number_in(dir + "/cpu.cfs_period_us");
        if (quota && period && *period > 0 && *quota > 0) {
            cpus = std::min(cpus, double(*quota) / double(*period));
        }
    }
    return cpus;
}

// What is left of the tightest memory limit above this process. Cached file pages count as free:
// the kernel drops them first.
std::optional<uint64_t> cgroup_memory() {
    std::optional<uint64_t> least;
    const auto consider = [&](const std::string & dir, const char * limit_file, const char * usage_file,
                              const std::string & cache_key) {
        const auto limit = number_in(dir + limit_file);
        const auto usage = number_in(dir + usage_file);
        if (!limit || !usage || *limit > (1ull << 60)) {
            return;
        }
        uint64_t cached = 0;
        std::ifstream stat(dir + "/memory.stat");
        for (std::string line; std::getline(stat, line);) {
            if (line.rfind(cache_key, 0) == 0) {
                cached = std::strtoull(line.c_str() + cache_key.size(), nullptr, 10);
            }
        }
        const uint64_t used = *usage - std::min(*usage, cached);
        const uint64_t left = *limit - std::min(*limit, used);
        least = least ? std::min(*least, left) : left;
    };
    for (const auto & dir : cgroup_dirs("")) {
        consider(dir, "/memory.max", "/memory.current", "inactive_file ");
    }
    for (const auto & dir : cgroup_dirs("memory")) {
        consider(dir, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file ");
    }
    return least;
}

#ifdef __linux__
// CPUs of the affinity mask, hardware threads of one core counted once.
int32_t affine_cores() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof(mask), &mask) != 0) {
        return static_cast<int32_t>(std::thread::hardware_concurrency());
    }
    std::set<std::string> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &mask)) {
            const std::string dir = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
            const std::string siblings = first_line(dir + "thread_siblings");
            cores.insert(siblings.empty() ? "cpu" + std::to_string(cpu) : siblings);
        }
    }
    return static_cast<int32_t>(cores.size());
}
#else
int32_t affine_cores() {
    return static_cast<int32_t>(std::thread::hardware_concurrency());
}
#endif

}  // namespace

int32_t usable_cores() {
    const int32_t quota = static_cast<int32_t>(std::min(cgroup_cpus(), 1e6));
    return std::max(1, std::min(affine_cores(), quota));
}

uint64_t available_memory_bytes() {
    uint64_t available = 0;
    std::ifstream meminfo("/proc/meminfo");
    for (std::string line; std::getline(meminfo, line);) {
        if (line.rfind("MemAvailable:", 0) == 0) {
            available = std::strtoull(line.c_str() + 13, nullptr, 10) * 1024;
        }
    }
#ifndef _WIN32
    if (available == 0) {
        // Systems without /proc: half of what is installed.
        available = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
    }
#endif
    const auto limit = cgroup_memory();
    return limit ? std::min(*limit, available) : available;
}

int32_t runnable_threads() {
    // proc(5): the fourth field of /proc/loadavg is runnable/total.
    std::ifstream file("/proc/loadavg");
    std::string one, five, fifteen;
    int32_t runnable = 0;
    return file >> one >> five >> fifteen >> runnable ? runnable : 0;
}

}  // namespace llamaint
