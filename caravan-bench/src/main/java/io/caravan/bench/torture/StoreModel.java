package io.caravan.bench.torture;

import io.caravan.bench.torture.Intent.Operation;
import io.caravan.bench.torture.ListModel.Item;
import java.nio.ByteBuffer;

/** What a store should hold after the intents that were applied to it: a contract in a few lines. */
abstract class StoreModel extends Contents {
    /** What {@link #apply} returns for an intent that the store must refuse, as an expectation of it does not hold. */
    static final long REFUSED = Long.MIN_VALUE;
    /** What {@link #apply} returns when the contract leaves open what is told. */
    static final long UNSPECIFIED = Long.MIN_VALUE + 1;
    /** What is told of an intent that was refused for want of space; it is not to be applied. */
    static final long NO_SPACE = Long.MIN_VALUE + 2;

    /** Changes the model as the store must, and returns what must be told of it. */
    abstract long apply(Intent intent);

    /** Appends the value that the operation stands for, and returns the list. */
    final ListModel append(long intent, int op, Operation operation) {
        byte[] value = Values.bytes(operation.id(), intent, op, (int) operation.argument());
        ListModel list = lists().computeIfAbsent(operation.id(), id -> new ListModel(0));
        list.append(item(ByteBuffer.wrap(value), "the value of " + Intent.name(intent) + " operation " + op));
        return list;
    }

    /** The item that stands for a value that was read. */
    static Item item(ByteBuffer value) {
        return item(value, Values.describe(value));
    }

    private static Item item(ByteBuffer value, String origin) {
        return new Item(Values.fingerprint(value), value.remaining(), origin);
    }
}
