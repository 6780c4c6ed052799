package io.caravan.bench.torture;

import io.caravan.bench.torture.Intent.Operation;
import io.caravan.bench.torture.ListModel.Item;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a store should hold after the intents that were applied to it: the contract of the store in a few lines. */
final class StoreModel {
    /** What {@link #apply} returns for an intent that the store must refuse, as an expectation of it does not hold. */
    static final long REFUSED = Long.MIN_VALUE;
    /** What {@link #apply} returns when the contract leaves open which sequence the callback gets. */
    static final long UNSPECIFIED = Long.MIN_VALUE + 1;

    private static final long NO_SEQUENCE = -1;

    private final Map<Long, ListModel> lists = new HashMap<>();

    Map<Long, ListModel> lists() {
        return lists;
    }

    @Nullable
    ListModel list(long id) {
        return lists.get(id);
    }

    long nextSequence(long id) {
        ListModel list = lists.get(id);
        return list == null ? 0 : list.nextSequence();
    }

    /** Sum of the retained entries. */
    long entries() {
        return lists.values().stream().mapToLong(ListModel::count).sum();
    }

    /** Changes the model as the store must, and returns what the callback must be told. */
    long apply(Intent intent) {
        if (!intent.operations().stream().allMatch(this::holds)) {
            return REFUSED;
        }
        long told = NO_SEQUENCE;
        for (int op = 0; op < intent.operations().size(); op++) {
            Operation operation = intent.operations().get(op);
            long result = apply(intent, op, operation);
            boolean tells = intent.call() != Intent.Call.BATCH || operation.kind() == Intent.Kind.APPEND;
            told = tells ? result : told;
        }
        return told;
    }

    private boolean holds(Operation operation) {
        return operation.kind() != Intent.Kind.EXPECT || nextSequence(operation.id()) == operation.argument();
    }

    private long apply(Intent intent, int op, Operation operation) {
        return switch (operation.kind()) {
            case APPEND -> append(intent.number(), op, operation);
            case TRIM -> trim(operation.id(), operation.argument());
            case TRIM_TO -> trimTo(operation.id(), operation.argument());
            case DELETE -> delete(operation.id());
            case EXPECT -> NO_SEQUENCE;
        };
    }

    private long append(long intent, int op, Operation operation) {
        byte[] value = Values.bytes(operation.id(), intent, op, (int) operation.argument());
        return lists.computeIfAbsent(operation.id(), id -> new ListModel(0))
                .append(item(ByteBuffer.wrap(value), "the value of " + Intent.name(intent) + " operation " + op));
    }

    /** The item that stands for a value that was read. */
    static Item item(ByteBuffer value) {
        return item(value, Values.describe(value));
    }

    private static Item item(ByteBuffer value, String origin) {
        return new Item(Values.fingerprint(value), value.remaining(), origin);
    }

    private long trim(long id, long count) {
        ListModel list = lists.get(id);
        return list == null ? UNSPECIFIED : list.trimTo(list.firstSequence() + Math.min(count, list.count()));
    }

    private long trimTo(long id, long sequence) {
        ListModel list = lists.get(id);
        return list == null ? UNSPECIFIED : list.trimTo(sequence);
    }

    private long delete(long id) {
        lists.remove(id);
        return NO_SEQUENCE;
    }
}
