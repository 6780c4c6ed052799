package io.caravan.io;

import java.io.IOException;
import java.util.List;
import java.util.UUID;

/**
 * One directory of files, with durability spelled out.
 *
 * <ul>
 *   <li>A file's content is durable once {@link StoreFile#force()} has returned after it was written. Until then any
 *       512-byte sector of it may be there or not after a power loss.
 *   <li>A file's name (its creation, renaming or deletion) is durable once {@link #forceDirectory()} has returned after
 *       it. Until then it may be undone by a power loss.
 *   <li>A rename replaces an existing target atomically: afterwards there is the old or the new, never neither.
 * </ul>
 *
 * <p>Only the threads of one store use it. Names are plain file names.
 */
public interface Storage extends AutoCloseable {

    /** Names of all files in the directory, in no particular order. */
    List<String> list() throws IOException;

    /**
     * Creates a file of this size, or replaces the one of the same name: fills it with zeros, so that its space is
     * really allocated, and forces them. Without space for it the file is removed again.
     */
    StoreFile create(String name, long bytes) throws IOException;

    /** Bytes of disk that this process could still take, about. */
    long usableBytes() throws IOException;

    /** Opens an existing file. */
    StoreFile open(String name) throws IOException;

    /** Renames a file. */
    void rename(String from, String to) throws IOException;

    /** Deletes a file; its space returns when nothing maps it any more. */
    void delete(String name) throws IOException;

    /** Makes all creations, renames and deletions so far durable. */
    void forceDirectory() throws IOException;

    /**
     * What the operating system calls the time since it was started: what was written and not forced in an earlier one is
     * lost, or on the disk.
     */
    UUID bootId() throws IOException;

    /** The file's path, for messages. */
    String describe(String name);

    /** Releases the directory's lock. Files are closed by whoever opened them. */
    @Override
    void close() throws IOException;
}
