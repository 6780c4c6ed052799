package io.caravan.testing;

import io.caravan.format.FileNames;
import io.caravan.io.MappedFile;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Storage} with faults on demand: it holds calls until they are released, makes calls fail, runs out of space,
 * and records every call in order. It passes all other calls to another storage.
 */
public final class FaultStorage implements Storage {

    /** The kind of a call. All operations except reads of mapped memory are calls. */
    public enum Kind {
        CREATE,
        OPEN,
        READ,
        WRITE,
        FORCE,
        MAP,
        RENAME,
        DELETE,
        FORCE_DIRECTORY,
        CLOSE
    }

    /**
     * A call to the storage or to one of its files, recorded before it is performed.
     *
     * @param file the name with which the file was opened; empty for the directory
     * @param fileNumber distinguishes files that had the same name, and identifies a file across renames
     * @param position the start of a write; otherwise 0
     * @param bytes the number of bytes written or created; otherwise 0
     * @param newName the new name in a rename; otherwise empty
     */
    public record Call(Kind kind, String file, int fileNumber, long position, long bytes, String newName) {
        /** Whether this call changes the contents of the disk. */
        public boolean changes() {
            return switch (kind) {
                case CREATE, WRITE, RENAME, DELETE -> true;
                case OPEN, READ, FORCE, MAP, FORCE_DIRECTORY, CLOSE -> false;
            };
        }
    }

    /** Matches calls of this kind on files whose name, before or after a rename, matches the regular expression. */
    public static Predicate<Call> on(Kind kind, String names) {
        Pattern pattern = Pattern.compile(names);
        return call -> call.kind == kind
                && (pattern.matcher(call.file).matches()
                        || kind == Kind.RENAME && pattern.matcher(call.newName).matches());
    }

    /** Matches only the n-th of the matching calls from now on, counted from 1. */
    public static Predicate<Call> nth(int n, Predicate<Call> calls) {
        AtomicInteger count = new AtomicInteger();
        return call -> calls.test(call) && count.incrementAndGet() == n;
    }

    private interface Rule {
        void apply(Call call) throws IOException;
    }

    /** Holds calls before they are performed, until {@link #release()}. */
    public static final class Hold implements AutoCloseable {
        private final Predicate<Call> calls;
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        private Hold(Predicate<Call> calls) {
            this.calls = calls;
        }

        private void apply(Call call) {
            if (released.getCount() > 0 && calls.test(call)) {
                reached.countDown();
                StoreCalls.await(released, call + " was not released");
            }
        }

        /** Waits until a call is being held. */
        public void awaitReached() {
            StoreCalls.await(reached, "no call came that was to be held");
        }

        /** Whether a call is being held, or was held and released. */
        public boolean reached() {
            return reached.getCount() == 0;
        }

        /** Lets the held calls and all later ones continue. */
        public void release() {
            released.countDown();
        }

        @Override
        public void close() {
            release();
        }
    }

    private final Storage inner;
    private final List<Rule> rules = new CopyOnWriteArrayList<>();
    private final List<Call> calls = new ArrayList<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private int lastNumber;
    private volatile boolean full;
    private volatile @Nullable LongSupplier usable;
    private volatile boolean unmeasurable;
    private volatile String unreadableFile = "";
    private volatile int unreadablePosition;
    private final AtomicInteger mapped = new AtomicInteger();

    public FaultStorage(Storage inner) {
        this.inner = inner;
    }

    /** Holds the calls that match, until the returned hold is released. */
    public Hold hold(Predicate<Call> held) {
        Hold hold = new Hold(held);
        rules.add(hold::apply);
        return hold;
    }

    /** Makes the matching calls fail without effect. */
    public void fail(Predicate<Call> failing) {
        fail(failing, call -> "made to fail: " + call.kind + " of " + call.file);
    }

    /** Makes the matching calls fail with their file name followed by this message, as operating system calls do. */
    public void fail(Predicate<Call> failing, String message) {
        fail(failing, call -> call.file + ": " + message);
    }

    /** Makes the matching calls fail with this exception. */
    public void fail(Predicate<Call> failing, IOException failure) {
        rules.add(call -> {
            if (failing.test(call)) {
                throw failure;
            }
        });
    }

    private void fail(Predicate<Call> failing, Function<Call, String> message) {
        rules.add(call -> {
            if (failing.test(call)) {
                throw new IOException(message.apply(call));
            }
        });
    }

    /** Removes all faults. Held calls stay held. */
    public void heal() {
        rules.clear();
        full = false;
        unmeasurable = false;
        unreadableFile = "";
    }

    /**
     * Sets whether the disk is full. On a full disk, no file can be created or grow, and heap segments cannot be
     * written, because they are sparse.
     */
    public void full(boolean noSpace) {
        full = noSpace;
    }

    /** Sets the source of the free disk space that the storage reports. */
    public void usable(LongSupplier bytes) {
        usable = bytes;
    }

    /** Causes the free disk space to be unknown. */
    public void unmeasurable() {
        unmeasurable = true;
    }

    /** Causes copies of mapped memory that include this byte of a file to fail with the error that the JVM throws. */
    public void unreadable(String file, int position) {
        unreadablePosition = position;
        unreadableFile = file;
    }

    /** Returns the number of mapped files. */
    public int mapped() {
        return mapped.get();
    }

    /** Returns all calls so far, in order. */
    public List<Call> calls() {
        synchronized (calls) {
            return List.copyOf(calls);
        }
    }

    /** Returns all matching calls so far. */
    public List<Call> calls(Predicate<Call> wanted) {
        return calls().stream().filter(wanted).toList();
    }

    /** Discards the recorded calls. */
    public void clearCalls() {
        synchronized (calls) {
            calls.clear();
        }
    }

    private void before(Kind kind, String file, int number, long position, long bytes, String newName)
            throws IOException {
        Call call = new Call(kind, file, number, position, bytes, newName);
        synchronized (calls) {
            calls.add(call);
        }
        for (Rule rule : rules) {
            rule.apply(call);
        }
    }

    private void before(Kind kind, String file) throws IOException {
        before(kind, file, number(file), 0, 0, "");
    }

    private void rejectWhenFull(String file) throws IOException {
        if (full) {
            throw new IOException(describe(file) + ": No space left on device");
        }
    }

    private int number(String file) {
        synchronized (calls) {
            return numbers.computeIfAbsent(file, unknown -> ++lastNumber);
        }
    }

    private int newNumber(String file) {
        synchronized (calls) {
            numbers.put(file, ++lastNumber);
            return lastNumber;
        }
    }

    @Override
    public List<String> list() throws IOException {
        return inner.list();
    }

    @Override
    public StoreFile create(String name, long bytes) throws IOException {
        int number = newNumber(name);
        before(Kind.CREATE, name, number, 0, bytes, "");
        rejectWhenFull(name);
        return new File(inner.create(name, bytes), name, number);
    }

    @Override
    public long usableBytes() throws IOException {
        if (unmeasurable) {
            throw new IOException("the free space cannot be read");
        }
        return full ? 0 : usable == null ? inner.usableBytes() : usable.getAsLong();
    }

    @Override
    public UUID bootId() throws IOException {
        return inner.bootId();
    }

    @Override
    public StoreFile open(String name) throws IOException {
        before(Kind.OPEN, name);
        return new File(inner.open(name), name, number(name));
    }

    @Override
    public void rename(String from, String to) throws IOException {
        before(Kind.RENAME, from, number(from), 0, 0, to);
        inner.rename(from, to);
        synchronized (calls) {
            numbers.put(to, number(from));
            numbers.remove(from);
        }
    }

    @Override
    public void delete(String name) throws IOException {
        before(Kind.DELETE, name);
        inner.delete(name);
        synchronized (calls) {
            numbers.remove(name);
        }
    }

    @Override
    public void forceDirectory() throws IOException {
        before(Kind.FORCE_DIRECTORY, "");
        inner.forceDirectory();
    }

    @Override
    public String describe(String name) {
        return inner.describe(name);
    }

    @Override
    public void close() throws IOException {
        inner.close();
    }

    private final class File implements StoreFile {
        private final StoreFile file;
        private final String name;
        private final int number;

        File(StoreFile file, String name, int number) {
            this.file = file;
            this.name = name;
            this.number = number;
        }

        private void before(Kind kind, long position, long bytes) throws IOException {
            FaultStorage.this.before(kind, name, number, position, bytes, "");
        }

        @Override
        public String path() {
            return file.path();
        }

        @Override
        public long size() throws IOException {
            return file.size();
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            before(Kind.READ, position, target.remaining());
            return file.read(target, position);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            before(Kind.WRITE, position, source.remaining());
            if (position + source.remaining() > file.size()
                    || FileNames.HEAP.number(name).isPresent()) {
                rejectWhenFull(name);
            }
            file.write(source, position);
        }

        @Override
        public void force() throws IOException {
            before(Kind.FORCE, 0, 0);
            file.force();
        }

        @Override
        public MappedFile map() throws IOException {
            before(Kind.MAP, 0, 0);
            MappedFile mapping = file.map();
            mapped.incrementAndGet();
            return new MappedFile() {
                @Override
                public ByteBuffer buffer() {
                    return mapping.buffer();
                }

                @Override
                public void copy(int at, ByteBuffer target, int bytes) {
                    requireReadable(at, bytes);
                    mapping.copy(at, target, bytes);
                }

                @Override
                public void load(int at, int bytes) {
                    requireReadable(at, bytes);
                    mapping.load(at, bytes);
                }

                private void requireReadable(int at, int bytes) {
                    if (name.equals(unreadableFile) && at <= unreadablePosition && unreadablePosition < at + bytes) {
                        throw new InternalError("a fault occurred in an unsafe memory access operation");
                    }
                }

                @Override
                public void unmap() {
                    mapped.decrementAndGet();
                    mapping.unmap();
                }
            };
        }

        @Override
        public void close() throws IOException {
            before(Kind.CLOSE, 0, 0);
            file.close();
        }
    }
}
