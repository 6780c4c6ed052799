package io.caravan.io;

import java.io.IOException;

/** A directory to which files are copied. */
public interface FileTarget {
    /**
     * Creates a file of this size, or replaces the file with this name. Fills the file with zeros, so that its disk
     * space is allocated, and fsyncs it. If the disk has no space, removes the file again.
     */
    StoreFile create(String name, long bytes) throws IOException;

    /** Fsyncs the directory, so that all creations, renames, and deletions so far are durable. */
    void forceDirectory() throws IOException;
}
