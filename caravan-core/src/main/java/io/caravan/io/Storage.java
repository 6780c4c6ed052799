package io.caravan.io;

import java.io.IOException;
import java.util.List;
import java.util.UUID;

/**
 * A directory of files, with a precise durability contract:
 *
 * <ul>
 *   <li>A file's content is durable once a later {@link StoreFile#force()} has returned. Until then, a power failure
 *       may lose or keep each 512-byte sector of the content.
 *   <li>A file's name (its creation, renaming, or deletion) is durable once a later {@link #forceDirectory()} has
 *       returned. Until then, a power failure may undo the operation.
 *   <li>A rename replaces an existing target atomically: the old file or the new file always exists.
 * </ul>
 *
 * <p>Only the threads of one store use a storage. Names are plain file names.
 */
public interface Storage extends AutoCloseable {

    /** Returns the names of all files in the directory, in no particular order. */
    List<String> list() throws IOException;

    /** Returns the approximate free disk space for this process, in bytes. */
    long usableBytes() throws IOException;

    /**
     * Creates a file of this size, or replaces the file with this name. Fills the file with zeros, so that its disk
     * space is allocated, and fsyncs it. If the disk has no space, removes the file again.
     */
    StoreFile create(String name, long bytes) throws IOException;

    /** Opens an existing file. */
    StoreFile open(String name) throws IOException;

    void rename(String from, String to) throws IOException;

    /** Deletes a file. Its disk space is freed once it is no longer mapped. */
    void delete(String name) throws IOException;

    /** Fsyncs the directory, so that all creations, renames, and deletions so far are durable. */
    void forceDirectory() throws IOException;

    /**
     * Returns the operating system's id of the current boot. Data that was written during an earlier boot without an
     * fsync is either lost or on the disk.
     */
    UUID bootId() throws IOException;

    /** Returns the file's path, for messages. */
    String describe(String name);

    /** Releases the directory's lock. Does not close open files. */
    @Override
    void close() throws IOException;
}
