package io.caravan.testing;

import io.caravan.ListInfo;
import io.caravan.ListStore;

/** The store and the settings that each part of {@link ListStoreContract} uses. */
public interface ContractFixture {

    /** Returns the open store under test, which is empty at the start of each test. */
    ListStore store();

    /** Returns the sequence that the next value appended to the list will get. */
    default long nextSequence(long id) {
        ListInfo info = store().info(id);
        return info == null ? 0 : info.nextSequence();
    }

    /** Returns the maximum value length, at least 64 bytes. A batch may not contain three values of this length. */
    int maxValueBytes();

    /** Closes the store and, if it is durable, opens it again. Returns the new {@link #store()}. */
    ListStore closeAndReopen();

    /** Whether the contents survive {@link #closeAndReopen()}. */
    boolean durable();
}
