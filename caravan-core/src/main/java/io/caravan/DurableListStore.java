package io.caravan;

import java.nio.file.Path;

/** Opens durable stores. */
public final class DurableListStore {

    private DurableListStore() {}

    /** Opens or creates the store in the directory, with default settings. */
    public static ListStore open(Path directory) {
        return open(StoreConfig.builder(directory).build());
    }

    /** Opens or creates a store. */
    public static ListStore open(StoreConfig config) {
        throw new UnsupportedOperationException("not yet: " + config.directory());
    }

    /** Verifies the closed store in the directory. */
    public static VerifyReport verify(Path directory, VerifyReport.Progress progress) {
        throw new UnsupportedOperationException("not yet: " + directory + progress);
    }
}
