package io.caravan.torture.model;

import io.caravan.torture.model.Intent.Operation;
import java.nio.ByteBuffer;

/** Predicts the contents of a store after the intents applied to it. Implements the store's contract in a few lines. */
public abstract class StoreModel extends Contents {
    /** Returned by {@link #apply} for an intent that the store must reject because an expectation does not hold. */
    public static final long REJECTED = Long.MIN_VALUE;
    /** Returned by {@link #apply} if the contract does not define the result. */
    public static final long UNSPECIFIED = Long.MIN_VALUE + 1;
    /** The result of an intent that was rejected for lack of space; such an intent must not be applied. */
    public static final long NO_SPACE = Long.MIN_VALUE + 2;

    /** Applies an intent to the model, as the store must, and returns the expected result. */
    public abstract long apply(Intent intent);

    /** Appends the value of the operation to its list, and returns the list. */
    public final ListModel append(long intent, int op, Operation operation) {
        byte[] value = TortureValues.bytes(operation.id(), intent, op, (int) operation.argument());
        ListModel list = lists().computeIfAbsent(operation.id(), id -> new ListModel(0));
        list.append(ByteBuffer.wrap(value), "the value of " + Intent.name(intent) + " operation " + op);
        return list;
    }
}
