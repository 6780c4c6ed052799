package io.caravan.torture.embedded;

import io.caravan.CaravanException;
import io.caravan.Entry;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.SequenceConflictException;
import io.caravan.StoreIoException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.torture.model.Intent;
import io.caravan.torture.model.Intent.Operation;
import io.caravan.torture.model.ListModel;
import io.caravan.torture.model.Lists;
import io.caravan.torture.model.StoreModel;
import io.caravan.torture.model.TortureValues;
import io.caravan.torture.round.IntentGenerator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * Writes at random to its own lists in the child process, and checks what it reads from its own and other lists.
 *
 * <p>It reports a group of intents, then submits them one by one. Its model contains the expected contents of its
 * lists, because no other thread writes to them.
 */
final class EmbeddedWorker extends Thread {
    private static final int MAX_OUTSTANDING = 256;
    private static final int MAX_GROUP = 8;
    private static final long MAX_PAUSE_NANOS = 3_000_000;

    private final int index;
    private final boolean smallDisk;
    private final Lists lists;
    private final ListStore store;
    private final Reporter reporter;
    private final SplittableRandom random;
    private final StoreModel model = new EmbeddedModel();
    private final IntentGenerator generator;
    private final Semaphore room = new Semaphore(MAX_OUTSTANDING);
    private volatile boolean stopping;

    EmbeddedWorker(ChildPlan plan, int index, Lists lists, ListStore store, Reporter reporter) {
        super("worker-" + index);
        setDaemon(true);
        this.index = index;
        smallDisk = plan.shift().smallDisk();
        this.lists = lists;
        this.store = store;
        this.reporter = reporter;
        random = new SplittableRandom(plan.shift().seedOf(index));
        generator = new EmbeddedIntents(random, model, lists.of(index), plan.shift(), index);
    }

    void requestStop() {
        stopping = true;
    }

    @Override
    public void run() {
        try {
            for (long id : lists.of(index)) {
                load(id);
            }
            while (!stopping) {
                step();
            }
        } catch (RuntimeException | AssertionError problem) {
            reporter.problem(getName(), problem);
        }
    }

    /** Loads the initial contents of a list, which the supervisor has already checked, into the worker's model. */
    private void load(long id) {
        ListInfo info = store.info(id);
        if (info != null) {
            ListModel list = new ListModel(info.firstSequence());
            store.read(id).forEach(entry -> list.append(ByteBuffer.wrap(entry.value())));
            model.lists().put(id, list);
        }
    }

    private void step() {
        int dice = random.nextInt(1000);
        if (dice < 900) {
            write();
        } else if (dice < 950) {
            checkOwn();
        } else if (dice < 980) {
            checkAnother();
        } else if (dice < 990) {
            LockSupport.parkNanos(random.nextLong(MAX_PAUSE_NANOS));
        } else if (dice < 996) {
            awaitAll();
        } else if (dice < 999) {
            store.flush();
        } else {
            checkpoint();
        }
    }

    /** Requests a checkpoint. A checkpoint also needs space, so it may fail harmlessly if the disk is full. */
    private void checkpoint() {
        try {
            store.checkpoint();
        } catch (StoreIoException problem) {
            if (!smallDisk) {
                throw problem;
            }
        }
    }

    private void write() {
        List<Intent> intents = new ArrayList<>();
        for (int left = 1 + random.nextInt(MAX_GROUP); left > 0; left--) {
            intents.add(generator.next());
        }
        reporter.intents(intents);
        intents.forEach(this::submit);
    }

    private void submit(Intent intent) {
        room.acquireUninterruptibly();
        boolean rejected = false;
        try {
            call(intent, new Acknowledger(intent));
        } catch (SequenceConflictException conflict) {
            room.release();
            reporter.rejected(intent.number());
            rejected = true;
        } catch (OutOfSpaceException noSpace) {
            room.release();
            reporter.noSpace(intent.number(), String.valueOf(noSpace.getMessage()));
            return;
        }
        if (rejected != (model.apply(intent) == StoreModel.REJECTED)) {
            reporter.problem((rejected
                            ? "rejected, although its expectation holds: "
                            : "accepted, although its expectation does not hold: ")
                    + intent);
        }
    }

    private void call(Intent intent, WriteCallback callback) {
        Operation first = intent.operations().get(0);
        switch (intent.call()) {
            case APPEND -> append(intent, first, callback);
            case TRIM -> store.trim(first.id(), first.argument(), callback);
            case TRIM_TO -> store.trimTo(first.id(), first.argument(), callback);
            case DELETE -> store.delete(first.id(), callback);
            case BATCH -> store.write(batch(intent), callback);
        }
    }

    private void append(Intent intent, Operation operation, WriteCallback callback) {
        byte[] value = TortureValues.bytes(operation.id(), intent.number(), 0, (int) operation.argument());
        if (random.nextBoolean()) {
            store.append(operation.id(), value, callback);
        } else {
            store.append(
                    operation.id(),
                    ByteBuffer.allocateDirect(value.length).put(value).flip(),
                    callback);
        }
    }

    private static WriteBatch batch(Intent intent) {
        WriteBatch batch = WriteBatch.create();
        for (int op = 0; op < intent.operations().size(); op++) {
            Operation operation = intent.operations().get(op);
            long id = operation.id();
            switch (operation.kind()) {
                case APPEND ->
                    batch.append(id, TortureValues.bytes(id, intent.number(), op, (int) operation.argument()));
                case TRIM_TO -> batch.trimTo(id, operation.argument());
                case DELETE -> batch.delete(id);
                case EXPECT -> batch.expect(id, operation.argument());
                case TRIM, KEEP -> throw new AssertionError("a batch cannot trim by count");
            }
        }
        return batch;
    }

    private void awaitAll() {
        room.acquireUninterruptibly(MAX_OUTSTANDING);
        room.release(MAX_OUTSTANDING);
    }

    /** Checks one of this worker's own lists, which must contain exactly what the worker has written. */
    private void checkOwn() {
        List<Long> own = lists.of(index);
        long id = own.get(random.nextInt(own.size()));
        ListModel should = model.list(id);
        List<Entry> entries = store.read(id);
        ListInfo info = store.info(id);
        ListModel is = new ListModel(info == null ? 0 : info.firstSequence());
        entries.forEach(entry -> is.append(ByteBuffer.wrap(entry.value())));
        checkSequences(id, entries);
        if ((should == null) != (info == null)) {
            throw new AssertionError("list " + id + (info == null ? " is missing" : " was deleted, but exists"));
        }
        String difference = should == null ? null : should.difference(is);
        if (difference != null) {
            throw new AssertionError("a read of list " + id + " by its only writer: " + difference);
        }
        reporter.readChecked();
    }

    /**
     * Checks another worker's list. It may contain any number of values, but they must belong to that list and have
     * consecutive sequences.
     */
    private void checkAnother() {
        List<Long> others = lists.of(random.nextInt(lists.workers()));
        long id = others.get(random.nextInt(others.size()));
        List<Entry> entries = store.read(id);
        checkSequences(id, entries);
        for (Entry entry : entries) {
            ByteBuffer value = ByteBuffer.wrap(entry.value());
            if (!TortureValues.belongsTo(id, value)) {
                throw new AssertionError(
                        "list " + id + ", sequence " + entry.sequence() + " is " + TortureValues.describe(value));
            }
        }
        reporter.readChecked();
    }

    private static void checkSequences(long id, List<Entry> entries) {
        for (int i = 1; i < entries.size(); i++) {
            long before = entries.get(i - 1).sequence();
            if (entries.get(i).sequence() != before + 1) {
                throw new AssertionError("a read of list " + id + " returned sequence" + " "
                        + entries.get(i).sequence() + " after " + before);
            }
        }
    }

    /** Reports the result of one change to the supervisor. */
    private final class Acknowledger implements WriteCallback {
        private final Intent intent;

        Acknowledger(Intent intent) {
            this.intent = intent;
        }

        @Override
        public void success(long sequence) {
            reporter.acknowledged(intent.number(), sequence);
            room.release();
        }

        @Override
        public void failure(CaravanException problem) {
            reporter.problem("the store failed " + intent, problem);
            room.release();
        }
    }
}
