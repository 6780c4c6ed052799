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
 * A directory in memory on a disk that does what disks may do when the power fails, the process is killed, or the
 * hardware is bad. This is the model:
 *
 * <p><b>Two layers.</b> A file has visible bytes, which readers and mappings see (the page cache), and durable bytes,
 * which are on the disk. Writes change visible bytes only. A force of the file copies all its 512-byte sectors that
 * differ to the disk. The kernel may write some of them at any time by itself: {@link #writeBack}. {@link #create}
 * leaves zeros that are durable, under a name that is not. A file that has grown has its larger size only after a force.
 *
 * <p><b>A power cut</b> ({@link #powerCut}) leaves every sector that differs either old or new, all sectors by
 * themselves: all, none, the first, the last or any of them may be new. At most one sector a file is torn: new up to
 * some byte and old behind it, or old and then new. Bytes of a sector that nobody has changed survive in any case, as
 * with SQLite's "powersafe overwrite". A size that was not forced is the old one, the new one or one between; what was
 * lost within it reads as zeros.
 *
 * <p><b>A block that is being written</b> may come out as garbage: a 4 KiB block that was the target of a {@link
 * StoreFile#write} since the file's last successful force, even one with the bytes that were there before, is filled
 * with random bytes in some cuts, one block a cut. This is why nothing acknowledged may be written again in place. A
 * heap segment is different, because a write may share a block with older values: only a block that one write covers as
 * a whole may come out as garbage. Any other block of it is atomic by sector, as said above.
 *
 * <p><b>Names.</b> Creations, renamings and deletions reach the disk in their order: a power cut undoes the last of
 * those made since {@link #forceDirectory}, as many as it likes. A file that was renamed, deleted or replaced comes
 * back with what the cut leaves of its bytes.
 *
 * <p><b>A kill of the process</b> ({@link #processKill}) takes nothing but the mappings: the page cache lives on.
 *
 * <p><b>Faults</b> are what a {@link Director} says, call by call. After a force that {@linkplain Outcome#FAIL_HALFWAY
 * fails halfway} the sectors that it has not written are dropped: still visible, never again written by a force unless
 * they are written anew, and lost in a power cut, as on Linux (Rebello et al., "Can Applications Recover from fsync
 * Failures?", USENIX ATC 2020). {@link #rot} flips bits.
 *
 * <p>All chance comes from the generators and the seed that are passed in: the same calls leave the same bytes. A cut
 * or killed storage is another, independent one; this one goes on. Untouched bytes are shared, so that a cut costs
 * microseconds. Any threads may call, and see each call done or not. Unlike a real file a mapped one cannot grow.
 */
public final class CrashStorage implements Storage {

    /**
     * One call, before it is performed.
     *
     * @param file the file's name as it was opened; empty for the directory
     * @param position where a read or a write starts; otherwise 0
     * @param bytes how many are read, written or created; otherwise 0
     * @param newName what a rename renames to; otherwise empty
     * @param halfMade whether this is the second of a creation's calls, when the file is there, but smaller
     * @param grows whether the call may take space on the disk: creations, writes past a file's end, and all writes
     *     to heap segments, which have holes
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

    /** What becomes of a call. */
    public enum Outcome {
        /** It is performed. */
        PASS,
        /** It throws and does nothing. */
        FAIL,
        /** It throws; a write has written a prefix, a force some sectors. Others do nothing. */
        FAIL_HALFWAY,
        /** It throws for lack of space and does nothing. */
        NO_SPACE
    }

    /** Decides about calls. */
    @FunctionalInterface
    public interface Director {

        /**
         * Is asked before a call is performed, and twice for a creation, which is many calls to a real disk: before it,
         * and when the file is half made. Comes on the caller's thread, which holds nothing of this storage: the
         * director may cut it, write it back, use it, or throw something unchecked, which the caller then gets.
         */
        Outcome before(Call call);
    }

    private final CrashDirectory directory;
    private final @Nullable PowerCut origin;
    /** How often the power was lost. */
    private final int boot;

    private long faultSeed;
    private volatile Director director = call -> Outcome.PASS;

    /**
     * An empty directory.
     *
     * @param faultSeed for what calls that fail halfway have done
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

    /** What a power cut at this moment leaves: all of it durable, and a director that lets everything pass. */
    public synchronized CrashStorage powerCut(RandomGenerator choices) {
        PowerCut cut = new PowerCut(directory, choices);
        return new CrashStorage(cut.remains(), cut, boot + 1, faultSeed);
    }

    /** What a kill of the process at this moment leaves, with a director that lets everything pass. */
    public synchronized CrashStorage processKill() {
        return new CrashStorage(directory.afterKill(), origin, boot, faultSeed);
    }

    /** In words, what the power cut that this storage comes from has kept, lost, torn, garbled and undone. */
    public String survived() {
        return origin == null ? "no power cut" : origin.toString();
    }

    /** Lets the kernel write some sectors of some file that has a name, if any is to be written. */
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

    /** Flips bits of a byte, as it is seen and as it is on the disk. */
    public synchronized void rot(String name, long offset, int xorMask) {
        known(name).rot(Math.toIntExact(offset), xorMask);
    }

    /** A file's size as its readers see it. */
    public synchronized int size(String name) {
        return known(name).size();
    }

    /** A copy of a file's bytes as its readers see them. */
    public synchronized byte[] visible(String name) {
        return known(name).visibleCopy();
    }

    /** A copy of the bytes that the disk has of the file that is seen under this name. */
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

    /** From now on, asks this director and no other. */
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

    /** Lets go; the storage can be opened again. */
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
