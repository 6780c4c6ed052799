package io.caravan.torture.embedded;

import io.caravan.EntryStream;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.SequenceConflictException;
import io.caravan.StoreLockedException;
import io.caravan.WriteBatch;
import io.caravan.WriteBatch.Operation;
import io.caravan.WriteCallback;
import io.caravan.testing.ForwardingListStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;

/**
 * A store that is simple enough to be obviously correct: it keeps its lists in memory, and a record of each change in
 * one file. Its contents survive a kill. Its optional faults test the harness independently of the engine. The engine
 * handles only calls that concern no list.
 */
final class ToyStore extends ForwardingListStore {

    /** The deliberate faults that the store can have. */
    enum Lie {
        NONE,
        /** Acknowledges writes before it performs them. */
        ACKNOWLEDGES_EARLY,
        /** Writes the operations of a batch one by one, so that a crash can occur between them. */
        TEARS_BATCHES,
        /** Loses trims, so that trimmed values reappear when the store is reopened. */
        FORGETS_TRIMS,
        /** Writes some values to the file with a changed byte. */
        CHANGES_BYTES,
        /** Loses deletes, so that deleted lists reappear when the store is reopened. */
        FORGETS_DELETES,
        /** Appends some values twice. */
        APPENDS_TWICE
    }

    private static final int EVERY = 500;
    private static final int LATE_BYTES = 16 * 1024;
    private static final long PART_NANOS = 100_000;

    private final Lie lie;
    private final Map<Long, ToyList> lists = new HashMap<>();
    private final OutputStream file;
    /** The stream that keeps the lock file locked while the store is open. */
    private final OutputStream lock;

    private final ByteArrayOutputStream late = new ByteArrayOutputStream();
    private int count;

    private static final class ToyList {
        private final List<byte[]> values = new ArrayList<>();
        private int trimmed;
    }

    ToyStore(Path directory, Lie lie) {
        super(ListStore.inMemory());
        this.lie = lie;
        try {
            Path path = Files.createDirectories(directory).resolve("log");
            lock = lock(directory);
            long good = Files.exists(path) ? replay(Files.readAllBytes(path)) : 0;
            FileOutputStream stream = new FileOutputStream(path.toFile(), true);
            stream.getChannel().truncate(good);
            file = stream;
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    private static FileOutputStream lock(Path directory) throws IOException {
        FileOutputStream stream = new FileOutputStream(directory.resolve("lock").toFile());
        if (stream.getChannel().tryLock() == null) {
            throw new StoreLockedException(directory.toString(), "process of somebody else's");
        }
        return stream;
    }

    private long replay(byte[] log) throws IOException {
        int good = 0;
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(log))) {
            while (in.available() > 0) {
                byte[] record = new byte[in.readInt()];
                in.readFully(record);
                decode(record).operations().forEach(this::apply);
                good = log.length - in.available();
            }
        } catch (EOFException torn) {
            return good;
        }
        return good;
    }

    private static WriteBatch decode(byte[] record) throws IOException {
        WriteBatch batch = WriteBatch.create();
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(record));
        while (in.available() > 0) {
            byte kind = in.readByte();
            long id = in.readLong();
            switch (kind) {
                case 'a' -> batch.append(id, in.readNBytes(in.readInt()));
                case 't' -> batch.trimTo(id, in.readLong());
                default -> batch.delete(id);
            }
        }
        return batch;
    }

    private static byte[] encode(List<Operation> operations) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            for (Operation operation : operations) {
                if (operation instanceof WriteBatch.Append append) {
                    out.writeByte('a');
                    out.writeLong(append.id());
                    out.writeInt(append.value().length);
                    out.write(append.value());
                } else if (operation instanceof WriteBatch.Trim trim) {
                    out.writeByte('t');
                    out.writeLong(trim.id());
                    out.writeLong(trim.firstSequence());
                } else {
                    out.writeByte('d');
                    out.writeLong(operation.id());
                }
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }

    private long apply(Operation operation) {
        if (operation instanceof WriteBatch.Append append) {
            ToyList list = lists.computeIfAbsent(append.id(), id -> new ToyList());
            list.values.add(append.value());
            return list.values.size() - 1L;
        } else if (operation instanceof WriteBatch.Trim trim) {
            ToyList list = lists.get(trim.id());
            if (list != null) {
                list.trimmed = (int) Math.max(list.trimmed, Math.min(trim.firstSequence(), list.values.size()));
            }
            return list == null ? 0 : list.trimmed;
        }
        lists.remove(operation.id());
        return -1;
    }

    @Override
    public synchronized void write(WriteBatch batch, WriteCallback callback) {
        batch.expectations().forEach(expectation -> {
            ToyList list = lists.get(expectation.id());
            long next = list == null ? 0 : list.values.size();
            if (next != expectation.nextSequence()) {
                throw new SequenceConflictException(expectation.id(), expectation.nextSequence(), next);
            }
        });
        persist(batch.operations());
        long lastResult = -1;
        for (Operation operation : batch.operations()) {
            long result = apply(operation);
            lastResult = operation instanceof WriteBatch.Append ? result : lastResult;
        }
        callback.success(lastResult);
    }

    private synchronized void one(WriteBatch batch, WriteCallback callback) {
        persist(batch.operations());
        callback.success(apply(batch.operations().get(0)));
    }

    private void persist(List<Operation> operations) {
        boolean now = count++ % EVERY == 0;
        switch (lie) {
            case NONE -> log(operations);
            case ACKNOWLEDGES_EARLY -> logLate(operations);
            case TEARS_BATCHES -> operations.forEach(this::logSlowly);
            case FORGETS_TRIMS -> log(without(WriteBatch.Trim.class, operations));
            case CHANGES_BYTES -> log(now ? changed(operations) : operations);
            case FORGETS_DELETES -> log(without(WriteBatch.Delete.class, operations));
            case APPENDS_TWICE -> {
                log(operations);
                if (now) {
                    log(operations);
                }
            }
        }
    }

    private static List<Operation> without(Class<?> kind, List<Operation> operations) {
        return operations.stream()
                .filter(operation -> !kind.isInstance(operation))
                .toList();
    }

    private static List<Operation> changed(List<Operation> operations) {
        return operations.stream()
                .map(operation -> operation instanceof WriteBatch.Append append ? changed(append) : operation)
                .toList();
    }

    private static Operation changed(WriteBatch.Append append) {
        byte[] value = append.value().clone();
        if (value.length > 0) {
            value[value.length / 2] ^= 1;
        }
        return new WriteBatch.Append(append.id(), value);
    }

    private void log(List<Operation> operations) {
        writeTo(file, framed(operations));
    }

    private void logSlowly(Operation operation) {
        log(List.of(operation));
        LockSupport.parkNanos(PART_NANOS);
    }

    private void logLate(List<Operation> operations) {
        late.writeBytes(framed(operations));
        if (late.size() > LATE_BYTES) {
            writeTo(file, late.toByteArray());
            late.reset();
        }
    }

    private static byte[] framed(List<Operation> operations) {
        byte[] record = encode(operations);
        return ByteBuffer.allocate(Integer.BYTES + record.length)
                .putInt(record.length)
                .put(record)
                .array();
    }

    private static void writeTo(OutputStream out, byte[] bytes) {
        try {
            out.write(bytes);
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    @Override
    public void append(long id, byte[] value, WriteCallback callback) {
        one(WriteBatch.create().append(id, value.clone()), callback);
    }

    @Override
    public void append(long id, ByteBuffer value, WriteCallback callback) {
        byte[] bytes = new byte[value.remaining()];
        value.duplicate().get(bytes);
        append(id, bytes, callback);
    }

    @Override
    public synchronized void trim(long id, long number, WriteCallback callback) {
        ToyList list = lists.get(id);
        trimTo(id, (list == null ? 0 : list.trimmed) + number, callback);
    }

    @Override
    public void trimTo(long id, long firstSequence, WriteCallback callback) {
        one(WriteBatch.create().trimTo(id, firstSequence), callback);
    }

    @Override
    public void delete(long id, WriteCallback callback) {
        one(WriteBatch.create().delete(id), callback);
    }

    @Override
    public void get(long id, EntryStream stream) {
        ListInfo info = info(id);
        get(id, info == null ? 0 : info.firstSequence(), stream);
    }

    @Override
    public synchronized void get(long id, long fromSequence, EntryStream stream) {
        ToyList list = lists.get(id);
        for (int i = (int) fromSequence; list != null && i < list.values.size(); i++) {
            stream.next(i, ByteBuffer.wrap(list.values.get(i)).asReadOnlyBuffer());
        }
        stream.finished();
    }

    @Override
    public synchronized ListInfo info(long id) {
        ToyList list = lists.get(id);
        if (list == null) {
            return null;
        }
        long bytes = 0;
        for (int i = list.trimmed; i < list.values.size(); i++) {
            bytes += list.values.get(i).length;
        }
        return new ListInfo(id, list.trimmed, list.values.size(), bytes);
    }

    @Override
    public synchronized void acceptedLengths(long id, IntPredicate more) {
        ToyList list = lists.get(id);
        for (int i = list == null ? 0 : list.trimmed; list != null && i < list.values.size(); i++) {
            if (!more.test(list.values.get(i).length)) {
                return;
            }
        }
    }

    @Override
    public synchronized void forEachList(LongConsumer ids) {
        lists.keySet().forEach(ids::accept);
    }

    @Override
    public synchronized void close() {
        writeTo(file, late.toByteArray());
        late.reset();
        try {
            super.close();
            file.close();
            lock.close();
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }
}
