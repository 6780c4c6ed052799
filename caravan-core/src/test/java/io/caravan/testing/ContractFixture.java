package io.caravan.testing;

import io.caravan.ListStore;

/** What each part of {@link ListStoreContract} finds to work with. */
public interface ContractFixture {

    /** The open store under test, empty at the start of each test. */
    ListStore store();

    /** Its limit, at least 64 bytes; three such values are more than a batch may have. */
    int maxValueBytes();

    /** Closes the store and, when it keeps things, opens it again; returns what {@link #store()} is from now on. */
    ListStore closeAndReopen();

    /** Whether the store keeps things over {@link #closeAndReopen()}. */
    boolean durable();
}
