package io.caravan.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An in-memory copy of a directory at one moment, used to check that nothing has changed or to make a damaged copy.
 *
 * <p>An image of the directory of an open store is what a kill would leave. It excludes the lock file, which every
 * opening writes. The arrays must not be changed.
 */
public record DirectoryImage(SortedMap<String, byte[]> files) {
    private static final String LOCK = "caravan.lock";
    private static final int TRIES = 10_000;

    /**
     * Reads the directory and returns its current contents. Reads the directory again if files were created, deleted,
     * or renamed in the meantime, because a kill would not leave, for example, an old checkpoint with a newer log.
     */
    public static DirectoryImage of(Path directory) {
        try {
            for (int i = 0; i < TRIES; i++) {
                SortedSet<String> names = names(directory);
                DirectoryImage image = read(directory, names);
                if (image != null && names.equals(names(directory))) {
                    return image;
                }
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        throw new AssertionError(directory + " changes all the time");
    }

    private static SortedSet<String> names(Path directory) throws IOException {
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.filter(path -> !Files.isDirectory(path))
                    .map(path -> path.getFileName().toString())
                    .filter(name -> !name.equals(LOCK))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static @Nullable DirectoryImage read(Path directory, SortedSet<String> names) throws IOException {
        SortedMap<String, byte[]> files = new TreeMap<>();
        try {
            for (String name : names) {
                files.put(name, Files.readAllBytes(directory.resolve(name)));
            }
        } catch (NoSuchFileException renamedOrDeleted) {
            return null;
        }
        return new DirectoryImage(files);
    }

    /** Returns the contents of the directory of an open store, once the background work of these threads is done. */
    public static DirectoryImage ofSettled(Path directory, WatchedScheduler threads) {
        threads.awaitRest();
        return of(directory);
    }

    /** Creates the directory if it does not exist, and writes the files to it. */
    public Path writeTo(Path directory) throws IOException {
        Files.createDirectories(directory);
        for (String name : files.keySet()) {
            Files.write(directory.resolve(name), bytes(name));
        }
        return directory;
    }

    public byte[] bytes(String name) {
        return Objects.requireNonNull(files.get(name), name);
    }

    /** Returns a copy of the bytes of a file, in the byte order of the store format. */
    public ByteBuffer buffer(String name) {
        return ByteBuffer.wrap(bytes(name).clone()).order(ByteOrder.LITTLE_ENDIAN);
    }

    public int length(String name) {
        return bytes(name).length;
    }

    /** Returns the file names with this prefix, in order. */
    public List<String> names(String beginning) {
        return files.keySet().stream()
                .filter(name -> name.startsWith(beginning))
                .toList();
    }

    public String last(String beginning) {
        List<String> names = names(beginning);
        return names.get(names.size() - 1);
    }

    public DirectoryImage with(String name, byte[] bytes) {
        SortedMap<String, byte[]> more = new TreeMap<>(files);
        more.put(name, bytes);
        return new DirectoryImage(more);
    }

    public DirectoryImage without(String name) {
        SortedMap<String, byte[]> fewer = new TreeMap<>(files);
        fewer.remove(name);
        return new DirectoryImage(fewer);
    }

    /** Returns a copy of the image without the files whose names have this prefix. */
    public DirectoryImage withoutAll(String beginning) {
        SortedMap<String, byte[]> fewer = new TreeMap<>(files);
        fewer.keySet().removeIf(name -> name.startsWith(beginning));
        return new DirectoryImage(fewer);
    }

    /** Returns a copy of the image in which one bit of a byte is flipped. The offset determines the bit. */
    public DirectoryImage withFlip(String name, int offset) {
        byte[] bytes = bytes(name).clone();
        bytes[offset] ^= (byte) (1 << (offset * 5 + 3) % Byte.SIZE);
        return with(name, bytes);
    }

    public DirectoryImage truncated(String name, int length) {
        return with(name, Arrays.copyOf(bytes(name), length));
    }

    /** Returns a copy of the image in which the bytes of one file are edited. */
    public DirectoryImage edited(String name, Consumer<ByteBuffer> edit) {
        byte[] bytes = bytes(name).clone();
        edit.accept(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
        return with(name, bytes);
    }

    /** Returns the names of the files that differ between the two images. */
    public List<String> differences(DirectoryImage other) {
        TreeSet<String> names = new TreeSet<>(files.keySet());
        names.addAll(other.files.keySet());
        List<String> different = new ArrayList<>();
        for (String name : names) {
            if (!Arrays.equals(files.get(name), other.files.get(name))) {
                different.add(name);
            }
        }
        return different;
    }
}
