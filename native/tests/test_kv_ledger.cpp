#include "engine/kv_ledger.h"

#include <doctest/doctest.h>

using llamaint::KvLedger;

TEST_CASE("cells of one sequence come and go") {
    KvLedger ledger;
    ledger.append(3, 10);
    ledger.append(3, 5);
    CHECK(ledger.length(3) == 15);
    CHECK(ledger.used() == 15);
    ledger.truncate(3, 12);
    CHECK(ledger.used() == 12);
    ledger.truncate(3, 0);
    CHECK(ledger.used() == 0);
    CHECK(ledger.length(3) == 0);
}

TEST_CASE("a shared prefix is counted once and lives until its last owner leaves") {
    KvLedger ledger;
    ledger.append(0, 100);
    ledger.share_prefix(0, 1, 60);
    CHECK(ledger.used() == 100);
    ledger.append(1, 7);
    CHECK(ledger.used() == 107);
    CHECK(ledger.length(1) == 67);
    CHECK(ledger.exclusive(0) == 40);
    CHECK(ledger.exclusive(1) == 7);
    ledger.truncate(0, 0);
    CHECK(ledger.used() == 67);
    ledger.truncate(1, 0);
    CHECK(ledger.used() == 0);
}

TEST_CASE("the source goes on growing behind a shared prefix") {
    KvLedger ledger;
    ledger.append(0, 10);
    ledger.share_prefix(0, 1, 10);
    ledger.append(0, 3);
    ledger.append(1, 4);
    CHECK(ledger.used() == 17);
    ledger.share_prefix(1, 2, 12);
    CHECK(ledger.used() == 17);
    ledger.truncate(1, 0);
    CHECK(ledger.used() == 15);
}

TEST_CASE("truncating into a shared prefix frees only what nobody holds") {
    KvLedger ledger;
    ledger.append(0, 50);
    ledger.share_prefix(0, 1, 20);
    ledger.truncate(0, 10);
    CHECK(ledger.used() == 20);
    CHECK(ledger.length(0) == 10);
    ledger.append(0, 5);
    CHECK(ledger.used() == 25);
    CHECK(ledger.length(0) == 15);
}
