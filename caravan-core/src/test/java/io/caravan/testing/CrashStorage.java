package io.caravan.testing;

import io.caravan.format.FileNames;
import io.caravan.io.MappedFile;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import io.caravan.testing.FaultStorage.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * An in-memory directory on a disk that fails as disks may when the power fails, the process is killed, or the hardware
 * is bad. The model is as follows.
 *
 * <p><b>Two layers.</b> A file has visible bytes, which readers and mappings see (the page cache), and durable bytes,
 * which are on the disk. Writes change only visible bytes. An fsync of the file copies to the disk all its 512-byte
 * sectors that differ. The kernel may write some of these sectors at any time: {@link #writeBack}.
 *
 * <p>{@link #create} leaves durable zeros under a name that is not durable yet. The larger size of a file that has
 * grown is durable only after an fsync.
 *
 * <p><b>A power cut</b> ({@link #powerCut}) leaves every sector that differs either old or new, independently: all,
 * none, the first, the last, or any of them may be new. At most one sector of each file is torn: new up to some byte
 * and old after it, or old and then new. Unchanged bytes of a sector always survive, as with SQLite's "powersafe
 * overwrite".
 *
 * <p>A file size that was not fsynced becomes the old size, the new size, or a size in between. Lost bytes within this
 * size are zeros.
 *
 * <p><b>A block that is being written</b> may become garbage. Some cuts fill one 4 KiB block with random bytes. This
 * may be any block that a {@link StoreFile#write} has written since the last successful fsync of its file, even without
 * changing its bytes. Therefore, nothing acknowledged may be rewritten in place.
 *
 * <p>In a heap segment, a write may share a block with older values. Only a block that one write covers completely may
 * become garbage. In any other block, each sector is atomic, as described above.
 *
 * <p><b>Names.</b> Creations, renames, and deletions reach the disk in order: a power cut undoes any number of the most
 * recent ones since {@link #forceDirectory}. A file that was renamed, deleted, or replaced reappears with the bytes
 * that the cut leaves.
 *
 * <p><b>A kill of the process</b> ({@link #processKill}) removes only the mappings: the page cache survives.
 *
 * <p><b>Faults.</b> A {@link Director} decides on each call. After an fsync that
 * {@linkplain Outcome#FAIL_HALFWAY fails halfway}, the sectors it has not written are dropped. They stay visible, no
 * fsync writes them unless they are written again, and a power cut loses them. Linux does the same (Rebello et al.,
 * "Can Applications Recover from fsync Failures?", USENIX ATC 2020). {@link #rot} flips bits.
 *
 * <p>All randomness comes from the generators and the seed passed in: the same calls leave the same bytes. The storage
 * after a cut or kill is independent of this storage, which continues. Unchanged bytes are shared, so a cut takes
 * microseconds. The class is thread-safe, and each call is atomic. Unlike a real file, a mapped one cannot grow.
 */
public final class CrashStorage implements Storage {

    /**
     * A call to the storage or to one of its files that has not been performed yet.
     *
     * @param file the name with which the file was opened; empty for the directory
     * @param position the start of a read or a write; otherwise 0
     * @param bytes the number of bytes read, written, or created; otherwise 0
     * @param newName the new name in a rename; otherwise empty
     * @param halfMade whether this is the second call of a creation, when the file exists, but is smaller
     * @param grows whether the call may take space on the disk: creations, writes past the end of a file, and all
     * writes to heap segments, which are sparse
     */
    public record Call(
            Kind kind, String file, long position, long bytes, String newName, boolean halfMade, boolean grows) {
        @Override
        public String toString() {
            String what = kind.name().toLowerCase(Locale.ROOT).replace('_', ' ') + (file.isEmpty() ? "" : " " + file);
            return what
                    + (newName.isEmpty() ? "" : " to " + newName)
                    + (bytes == 0 ? "" : ", " + bytes + " bytes at " + position)
                    + (halfMade ? ", half made" : "");
        }
    }

    /** The outcome that a director chooses for a call. */
    public enum Outcome {
        /** The call is performed. */
        PASS,
        /** The call throws and has no effect. */
        FAIL,
        /** The call throws. A write has written a prefix, an fsync some sectors. Other calls do nothing. */
        FAIL_HALFWAY,
        /** The call throws for lack of space and has no effect. */
        NO_SPACE
    }

    /** Decides the outcome of each call to the storage. */
    @FunctionalInterface
    public interface Director {

        /**
         * Decides the outcome of a call before it is performed. Called twice for a creation, which takes many calls on
         * a real disk: before the creation, and when the file is half made. Runs on the thread of the caller, without
         * any lock of this storage. The method may cut the storage, write it back, use it, or throw an unchecked
         * exception to the caller.
         */
        Outcome before(Call call);
    }

    private final CrashDirectory directory;
    private final @Nullable PowerCut origin;
    /** The number of power cuts that preceded this storage. */
    private final int boot;

    private long faultSeed;
    private volatile Director director = call -> Outcome.PASS;

    /**
     * Creates a {@code CrashStorage} with an empty directory.
     *
     * @param faultSeed the seed for the effects of calls that fail halfway
     */
    public CrashStorage(long faultSeed) {
        this(new CrashDirectory(new LinkedHashMap<>()), null, 0, faultSeed);
    }

    private CrashStorage(CrashDirectory directory, @Nullable PowerCut origin, int boot, long faultSeed) {
        this.directory = directory;
        this.origin = origin;
        this.boot = boot;
        this.faultSeed = faultSeed;
    }

    /** Returns the storage that a power cut at this moment leaves: durable, with a director that passes every call. */
    public synchronized CrashStorage powerCut(RandomGenerator choices) {
        PowerCut cut = new PowerCut(directory, choices);
        return new CrashStorage(cut.remains(), cut, boot + 1, faultSeed);
    }

    /** Returns the storage that a kill of the process at this moment leaves, with a director that passes every call. */
    public synchronized CrashStorage processKill() {
        return new CrashStorage(directory.afterKill(), origin, boot, faultSeed);
    }

    /** Describes what the power cut that created this storage has kept, lost, torn, garbled, and undone. */
    public String survived() {
        return origin == null ? "no power cut" : origin.toString();
    }

    /** Writes some pending sectors of one named file, as the kernel may at any time. */
    public synchronized void writeBack(RandomGenerator choices) {
        List<CrashFile> files = new ArrayList<>(directory.files());
        int first = files.isEmpty() ? 0 : choices.nextInt(files.size());
        Collections.rotate(files, -first);
        for (CrashFile file : files) {
            if (file.writeBack(choices)) {
                return;
            }
        }
    }

    /** Flips bits of a byte, both in the visible bytes and on the disk. */
    public synchronized void rot(String name, long offset, int xorMask) {
        known(name).rot(Math.toIntExact(offset), xorMask);
    }

    /** Returns the size of a file as its readers see it. */
    public synchronized int size(String name) {
        return known(name).size();
    }

    /** Returns a copy of the visible bytes of a file. */
    public synchronized byte[] visible(String name) {
        return known(name).visibleCopy();
    }

    /** Returns a copy of the durable bytes of the file with this visible name. */
    public synchronized byte[] durable(String name) {
        return known(name).durableCopy();
    }

    private CrashFile known(String name) {
        CrashFile file = directory.file(name);
        if (file == null) {
            throw new IllegalArgumentException("no file " + name + " in " + directory.names());
        }
        return file;
    }

    /** Replaces the director that decides the outcomes of further calls. */
    public void director(Director newDirector) {
        director = newDirector;
    }

    private void ask(Call call) throws IOException {
        check(director.before(call), call);
    }

    private void check(Outcome outcome, Call call) throws IOException {
        switch (outcome) {
            case PASS -> {}
            case FAIL, FAIL_HALFWAY -> throw new IOException("made to fail: " + call);
            case NO_SPACE -> throw new IOException(describe(call.file) + ": No space left on device");
        }
    }

    private static Call call(Kind kind, String file) {
        return new Call(kind, file, 0, 0, "", false, false);
    }

    private RandomGenerator faultChoices() {
        return new SplittableRandom(faultSeed++);
    }

    @Override
    public synchronized List<String> list() {
        return directory.names();
    }

    @Override
    public StoreFile create(String name, long bytes) throws IOException {
        int size = Math.toIntExact(bytes);
        ask(new Call(Kind.CREATE, name, 0, bytes, "", false, true));
        CrashFile file = CrashFile.unforcedZeros(size / 2);
        synchronized (this) {
            directory.create(name, file);
        }
        try {
            ask(new Call(Kind.CREATE, name, 0, bytes, "", true, true));
        } catch (IOException failed) {
            removeHalfMade(name, file);
            throw failed;
        }
        synchronized (this) {
            file.completeZeros(size);
        }
        return new OpenFile(name, file);
    }

    private synchronized void removeHalfMade(String name, CrashFile file) {
        if (directory.file(name) == file) {
            directory.delete(name, file);
        }
    }

    @Override
    public long usableBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public UUID bootId() {
        return new UUID(0, boot);
    }

    @Override
    public StoreFile open(String name) throws IOException {
        ask(call(Kind.OPEN, name));
        synchronized (this) {
            return new OpenFile(name, existing(name));
        }
    }

    private CrashFile existing(String name) throws IOException {
        CrashFile file = directory.file(name);
        if (file == null) {
            throw new NoSuchFileException(describe(name));
        }
        return file;
    }

    @Override
    public void rename(String from, String to) throws IOException {
        ask(new Call(Kind.RENAME, from, 0, 0, to, false, false));
        synchronized (this) {
            directory.rename(from, to, existing(from));
        }
    }

    @Override
    public void delete(String name) throws IOException {
        ask(call(Kind.DELETE, name));
        synchronized (this) {
            directory.delete(name, existing(name));
        }
    }

    @Override
    public void forceDirectory() throws IOException {
        ask(call(Kind.FORCE_DIRECTORY, ""));
        synchronized (this) {
            directory.force();
        }
    }

    @Override
    public String describe(String name) {
        return "crash/" + name;
    }

    /** Does nothing, so that the storage can be opened again. */
    @Override
    public void close() {}

    private void force(Call call, CrashFile file) throws IOException {
        Outcome outcome = director.before(call);
        synchronized (this) {
            if (outcome == Outcome.FAIL_HALFWAY) {
                file.failForce(faultChoices());
            }
            check(outcome, call);
            file.force();
        }
    }

    private final class OpenFile implements StoreFile {
        private final String name;
        private final CrashFile file;
        private final boolean heapSegment;
        private volatile boolean closed;

        OpenFile(String name, CrashFile file) {
            this.name = name;
            this.file = file;
            this.heapSegment = FileNames.HEAP.number(name).isPresent();
        }

        private CrashStorage storage() {
            return CrashStorage.this;
        }

        private CrashFile file() throws IOException {
            if (closed) {
                throw new ClosedChannelException();
            }
            return file;
        }

        @Override
        public String path() {
            return describe(name);
        }

        @Override
        public long size() throws IOException {
            synchronized (storage()) {
                return file().size();
            }
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            ask(new Call(Kind.READ, name, position, target.remaining(), "", false, false));
            synchronized (storage()) {
                return file().read(target, position);
            }
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            int bytes = source.remaining();
            boolean grows = position + bytes > size() || heapSegment;
            Call call = new Call(Kind.WRITE, name, position, bytes, "", false, grows);
            Outcome outcome = director.before(call);
            synchronized (storage()) {
                if (outcome == Outcome.FAIL_HALFWAY) {
                    writePrefix(source, position);
                }
                check(outcome, call);
                file().write(source, position, heapSegment);
            }
        }

        private void writePrefix(ByteBuffer source, long position) throws IOException {
            int end = source.limit();
            source.limit(source.position() + faultChoices().nextInt(Math.max(1, source.remaining())));
            file().write(source, position, heapSegment);
            source.limit(end);
        }

        @Override
        public void force() throws IOException {
            storage().force(call(Kind.FORCE, name), file());
        }

        @Override
        public MappedFile map() throws IOException {
            ask(call(Kind.MAP, name));
            synchronized (storage()) {
                return new Mapping(file().map());
            }
        }

        @Override
        public void close() throws IOException {
            if (!closed) {
                ask(call(Kind.CLOSE, name));
                closed = true;
            }
        }

        private final class Mapping implements MappedFile {
            private final ByteBuffer buffer;
            private boolean unmapped;

            Mapping(ByteBuffer buffer) {
                this.buffer = buffer;
            }

            @Override
            public ByteBuffer buffer() {
                return buffer;
            }

            @Override
            public void unmap() {
                synchronized (storage()) {
                    if (unmapped) {
                        throw new IllegalStateException(name + " was unmapped twice");
                    }
                    unmapped = true;
                    file.unmap();
                }
            }
        }
    }
}
