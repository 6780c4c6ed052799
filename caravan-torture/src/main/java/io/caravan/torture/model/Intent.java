package io.caravan.torture.model;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A change that a worker is about to request with one call, and that is therefore atomic.
 *
 * @param number number composed of round, worker, and count: unique over all rounds and workers, and increasing within
 *     a worker
 * @param call the store's method
 * @param operations one operation, or any number of operations for a batch
 */
public record Intent(long number, Call call, List<Operation> operations) {
    private static final int ROUND_SHIFT = 40;
    private static final int WORKER_SHIFT = 32;
    private static final long WORKER_MASK = 0xFF;
    private static final long COUNT_MASK = 0xFFFFFFFFL;

    public Intent {
        operations = List.copyOf(operations);
    }

    /** The methods of a store that change it. */
    public enum Call {
        APPEND,
        TRIM,
        TRIM_TO,
        DELETE,
        BATCH
    }

    /** The kinds of operations that a change consists of. */
    public enum Kind {
        /** An append; the argument is the length of the value. */
        APPEND,
        /** A trim; the argument is the number of values to remove. */
        TRIM,
        /** A trim; the argument is the first sequence to keep. */
        TRIM_TO,
        /** A delete, which has no argument. */
        DELETE,
        /** A trim; the argument is the number of newest values to keep. */
        KEEP,
        /** An expectation; the argument is the sequence that the next append to the list must get. */
        EXPECT
    }

    /** One append, trim, delete, or expectation within a change. */
    public record Operation(Kind kind, long id, long argument) {
        private static final int BYTES = 1 + 2 * Long.BYTES;

        @Override
        public String toString() {
            return kind + "(" + id + ", " + argument + ")";
        }
    }

    /** Returns the number of a worker's {@code count}-th intent in a round. */
    public static long number(int round, int worker, long count) {
        return ((long) round << ROUND_SHIFT) | ((long) worker << WORKER_SHIFT) | count;
    }

    /** Returns the position of an intent among the worker's intents in its round. */
    public static int index(long number) {
        return (int) (number & COUNT_MASK);
    }

    /** Returns the worker whose intent has this number. */
    public static int worker(long number) {
        return (int) (number >>> WORKER_SHIFT & WORKER_MASK);
    }

    /** Returns a readable form of an intent's number. */
    public static String name(long number) {
        return "r" + (number >>> ROUND_SHIFT) + "w" + worker(number) + "#" + (number & COUNT_MASK);
    }

    /** Whether the intent contains an operation on the list. */
    boolean touches(long id) {
        return operations.stream().anyMatch(operation -> operation.id() == id);
    }

    /** Whether the intent needs space, and may therefore be rejected if there is none. */
    boolean appends() {
        return operations.stream().anyMatch(operation -> operation.kind() == Kind.APPEND);
    }

    public int encodedBytes() {
        return Long.BYTES + 2 + operations.size() * Operation.BYTES;
    }

    @SuppressWarnings("EnumOrdinal") // both ends run the same classes
    public void encode(ByteBuffer target) {
        target.putLong(number).put((byte) call.ordinal()).put((byte) operations.size());
        for (Operation operation : operations) {
            target.put((byte) operation.kind().ordinal())
                    .putLong(operation.id())
                    .putLong(operation.argument());
        }
    }

    public static Intent decode(ByteBuffer source) {
        long number = source.getLong();
        Call call = Call.values()[source.get()];
        int count = source.get();
        List<Operation> operations = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            operations.add(new Operation(Kind.values()[source.get()], source.getLong(), source.getLong()));
        }
        return new Intent(number, call, operations);
    }

    @Override
    public String toString() {
        return name(number) + " " + call + " " + operations;
    }
}
