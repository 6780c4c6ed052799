package io.caravan.testing;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

/** An operation that can be performed on a store and on its model. */
public sealed interface Operation {

    /** Performs the operation on the model. Returns the outcome that a store must have. */
    Outcome expect(ModelLists model);

    /** An operation that reports its outcome to a callback. */
    sealed interface Write extends Operation {
        void start(ListStore store, WriteCallback callback);

        /** Returns the ids of the lists that the operation may change. */
        Set<Long> ids();
    }

    /** A write that may change only one list. */
    sealed interface WriteOfOne extends Write {
        long id();

        @Override
        default Set<Long> ids() {
            return Set.of(id());
        }
    }

    /** An operation whose method returns its result. */
    sealed interface Read extends Operation {
        Outcome ask(ListStore store);

        /** Performs the operation on a store and returns its outcome, which may be a rejection. */
        default Outcome perform(ListStore store) {
            try {
                return ask(store);
            } catch (CaravanException rejection) {
                return Outcome.Rejected.of(rejection);
            }
        }
    }

    /** A maintenance operation, which changes nothing that a reader can see. */
    enum Upkeep implements Operation {
        FLUSH,
        CHECKPOINT,
        REOPEN;

        @Override
        public Outcome expect(ModelLists model) {
            return new Outcome.Done();
        }
    }

    /** A call to {@link ListStore#append(long, byte[], WriteCallback)}. */
    record Append(long id, byte[] value) implements WriteOfOne {
        @Override
        public Outcome expect(ModelLists model) {
            return model.append(id, value);
        }

        @Override
        public void start(ListStore store, WriteCallback callback) {
            store.append(id, value, callback);
        }

        @Override
        public String toString() {
            return "append to " + id + " " + value.length + " bytes";
        }
    }

    /** A call to {@code append} with a value in the middle of a direct buffer. */
    record AppendBuffer(long id, byte[] value) implements WriteOfOne {
        @Override
        public Outcome expect(ModelLists model) {
            return model.append(id, value);
        }

        @Override
        public void start(ListStore store, WriteCallback callback) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(value.length + 2);
            buffer.position(1).limit(value.length + 1);
            store.append(id, buffer.put(1, value), callback);
        }

        @Override
        public String toString() {
            return "append to " + id + " a buffer of " + value.length + " bytes";
        }
    }

    /** A call to {@link ListStore#write}. */
    record Batch(WriteBatch batch) implements Write {
        @Override
        public Set<Long> ids() {
            return batch.operations().stream().map(WriteBatch.Operation::id).collect(Collectors.toSet());
        }

        @Override
        public Outcome expect(ModelLists model) {
            return model.write(batch);
        }

        @Override
        public void start(ListStore store, WriteCallback callback) {
            store.write(batch, callback);
        }

        @Override
        public String toString() {
            return "batch of "
                    + batch.operations().stream().map(Batch::describe).toList() + " expecting " + batch.expectations();
        }

        private static String describe(WriteBatch.Operation operation) {
            return operation instanceof WriteBatch.Append append
                    ? new Append(append.id(), append.value()).toString()
                    : operation.toString();
        }
    }

    /** A call to {@link ListStore#trim}. */
    record Trim(long id, long count) implements WriteOfOne {
        @Override
        public Outcome expect(ModelLists model) {
            return model.trim(id, count);
        }

        @Override
        public void start(ListStore store, WriteCallback callback) {
            store.trim(id, count, callback);
        }
    }

    /** A call to {@link ListStore#trimTo}. */
    record TrimTo(long id, long firstSequence) implements WriteOfOne {
        @Override
        public Outcome expect(ModelLists model) {
            return model.trimTo(id, firstSequence);
        }

        @Override
        public void start(ListStore store, WriteCallback callback) {
            store.trimTo(id, firstSequence, callback);
        }
    }

    /** A call to {@link ListStore#delete}. */
    record Delete(long id) implements WriteOfOne {
        @Override
        public Outcome expect(ModelLists model) {
            return model.delete(id);
        }

        @Override
        public void start(ListStore store, WriteCallback callback) {
            store.delete(id, callback);
        }
    }

    /** A call to {@link ListStore#get(long, io.caravan.EntryStream)}. */
    record Get(long id) implements Read {
        @Override
        public Outcome expect(ModelLists model) {
            return model.get(id);
        }

        @Override
        public Outcome ask(ListStore store) {
            return new Outcome.Streamed(StoreCalls.values(store, id));
        }
    }

    /** A call to {@link ListStore#get(long, long, io.caravan.EntryStream)}. */
    record GetFrom(long id, long fromSequence) implements Read {
        @Override
        public Outcome expect(ModelLists model) {
            return model.get(id, fromSequence);
        }

        @Override
        public Outcome ask(ListStore store) {
            return new Outcome.Streamed(StoreCalls.values(store, id, fromSequence));
        }
    }

    /** A call to {@link ListStore#info}. */
    record Info(long id) implements Read {
        @Override
        public Outcome expect(ModelLists model) {
            return model.info(id);
        }

        @Override
        public Outcome ask(ListStore store) {
            return new Outcome.Info(store.info(id));
        }
    }

    /** A call to {@link ListStore#forEachList}. */
    record ListAll() implements Read {
        @Override
        public Outcome expect(ModelLists model) {
            return model.list();
        }

        @Override
        public Outcome ask(ListStore store) {
            Set<Long> ids = new HashSet<>();
            store.forEachList(ids::add);
            return new Outcome.Listed(ids);
        }
    }
}
