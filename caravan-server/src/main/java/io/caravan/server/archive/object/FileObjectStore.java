package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Objects as the files of a folder, each at its key. Names that no key has, with a {@code ~}, are for what is needed
 * beside them: locks, and files that are not whole yet.
 *
 * <p>A file is written elsewhere, forced, and moved to its place, and the directories are forced; so there is never a
 * part of one. Conditions hold among all processes that use this class, not against others, nor against {@link #put},
 * which asks for none. A tag is the hash of the content. Deletions are not forced.
 *
 * <p>A folder that is not there is empty, and is created by the first put.
 */
public final class FileObjectStore implements ObjectStore {
    private final Path folder;
    private final String location;
    private final FileProblems problems;
    /** Null until something is to be written. Guarded by this. */
    private @Nullable Staging staging;
    /** Guarded by this. */
    private boolean closed;

    private FileObjectStore(Path folder) {
        this.folder = folder;
        this.location = "file:" + folder;
        this.problems = new FileProblems(location);
    }

    /**
     * Opens a folder, which need not be there.
     *
     * @throws ObjectStoreException when it cannot be one of objects
     */
    public static FileObjectStore open(Path folder) {
        FileObjectStore store = new FileObjectStore(folder.toAbsolutePath().normalize());
        store.checkFolder();
        return store;
    }

    private void checkFolder() {
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new ObjectStoreException(
                    Kind.NOT_FOUND, location + " is a file; an archive needs a folder of its own", null);
        }
        try {
            Staging.refuseIfCaseIsIgnored(folder);
        } catch (IOException refused) {
            throw problems.problem("open", "", refused);
        }
    }

    @Override
    public String location() {
        return location;
    }

    @Override
    public @Nullable Stored get(String key, int maxBytes) {
        try (SeekableByteChannel channel = Files.newByteChannel(path(key))) {
            byte[] content = read(key, channel, maxBytes);
            return new Stored(content, Digests.sha256(content));
        } catch (NoSuchFileException none) {
            return null;
        } catch (IOException failed) {
            throw problems.problem("read", key, failed);
        }
    }

    private byte[] read(String key, SeekableByteChannel channel, int maxBytes) throws IOException {
        long bytes = channel.size();
        if (bytes > maxBytes) {
            String why = "it has " + bytes + " bytes, and cannot have more than " + maxBytes;
            throw problems.of(Kind.CORRUPT, "read", key, why, null);
        }
        ByteBuffer content = ByteBuffer.allocate((int) bytes);
        while (content.hasRemaining()) {
            if (channel.read(content) < 0) {
                throw problems.of(Kind.CORRUPT, "read", key, "it became shorter while it was read", null);
            }
        }
        return content.array();
    }

    @Override
    public InputStream open(String key) {
        try {
            // Not as Files does it, whose streams take no note of interrupts.
            InputStream in = Channels.newInputStream(FileChannel.open(path(key), StandardOpenOption.READ));
            return new ObjectInput(in, failed -> problems.problem("read", key, failed));
        } catch (IOException failed) {
            throw problems.problem("read", key, failed);
        }
    }

    @Override
    public void put(String key, Content content) {
        Path place = path(key);
        try (Staging.Staged staged = staging().stage(content)) {
            staged.moveTo(place);
            Directories.forceAbove(place, folder);
        } catch (IOException failed) {
            throw problems.problem("write", key, failed);
        }
    }

    @Override
    public String putIf(String key, byte[] content, @Nullable String tag) {
        Path place = path(key);
        try (Staging.Staged staged = staging().stage(out -> out.write(content))) {
            new FolderLock(folder).decide(() -> {
                checkUnchanged("write", key, tag);
                staged.moveTo(place);
            });
            Directories.forceAbove(place, folder);
            return Digests.sha256(content);
        } catch (IOException failed) {
            throw problems.problem("write", key, failed);
        }
    }

    private void checkUnchanged(String call, String key, @Nullable String tag) throws IOException {
        String now = currentTag(key);
        if (tag == null && now != null) {
            throw problems.of(Kind.CONFLICT, call, key, "there is one already", null);
        }
        if (tag != null && !tag.equals(now)) {
            String why = now == null ? "it has been deleted meanwhile" : "it has changed meanwhile";
            throw problems.of(Kind.CONFLICT, call, key, why, null);
        }
    }

    private @Nullable String currentTag(String key) throws IOException {
        try (InputStream in = Files.newInputStream(path(key))) {
            return Digests.sha256(in);
        } catch (NoSuchFileException none) {
            return null;
        }
    }

    @Override
    public void list(String prefix, String after, Predicate<Listed> action) {
        ObjectKeys.checkedFolder(prefix);
        try {
            new FolderListing(folder, action).run(prefix, after);
        } catch (IOException failed) {
            throw problems.problem("list", prefix, failed);
        }
    }

    @Override
    public void delete(String key) {
        try {
            remove(key);
        } catch (IOException failed) {
            throw problems.problem("delete", key, failed);
        }
    }

    @Override
    public void deleteIf(String key, String tag) {
        path(key);
        if (!Files.isDirectory(folder)) {
            throw problems.of(Kind.CONFLICT, "delete", key, "it has been deleted meanwhile", null);
        }
        try {
            new FolderLock(folder).decide(() -> {
                checkUnchanged("delete", key, tag);
                remove(key);
            });
        } catch (IOException failed) {
            throw problems.problem("delete", key, failed);
        }
    }

    private void remove(String key) throws IOException {
        Path place = path(key);
        if (Files.deleteIfExists(place)) {
            Directories.removeEmptyAbove(place, folder);
        }
    }

    private Path path(String key) {
        return folder.resolve(ObjectKeys.checked(key));
    }

    private synchronized Staging staging() throws IOException {
        if (closed) {
            throw new IOException("the archive's folder has been closed");
        }
        if (staging == null) {
            staging = Staging.begin(folder);
        }
        return staging;
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (staging == null) {
            return;
        }
        try {
            staging.close();
        } catch (IOException failed) {
            throw problems.problem("close", "", failed);
        } finally {
            staging = null;
        }
    }
}
