package io.caravan.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.CaravanException;
import io.caravan.EntryStream;
import io.caravan.ListStore;
import io.caravan.WriteCallback;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Shortcuts for frequent calls to a store. Every wait fails after {@link #TIMEOUT_SECONDS}. */
public final class StoreCalls {

    /** The timeout of every wait: far longer than any call takes, even on a busy machine. */
    public static final long TIMEOUT_SECONDS = 120;

    /** A callback for a write that the test does not wait for. */
    public static final WriteCallback NO_CALLBACK = new WriteCallback() {
        @Override
        public void success(long sequence) {}

        @Override
        public void failure(CaravanException problem) {}
    };

    private StoreCalls() {}

    public static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    /** Returns {@code length} bytes, which differ from those for any other length or salt. */
    public static byte[] bytes(int length, int salt) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (31 * i + 7 * salt + length + (i >> 8));
        }
        return bytes;
    }

    /** Waits for the end of a write and returns its sequence, or throws its exception. */
    public static long awaitWrite(Consumer<WriteCallback> write) {
        CompletableFuture<Long> sequence = new CompletableFuture<>();
        write.accept(WriteCallback.completing(sequence));
        return await(sequence);
    }

    /** Appends the strings, waits for all of them, and returns the sequence of the last one. */
    public static long append(ListStore store, long id, String... texts) {
        CompletableFuture<Long> last = CompletableFuture.completedFuture(-1L);
        for (String text : texts) {
            last = store.append(id, bytes(text));
        }
        return await(last);
    }

    public static <T> T await(Future<T> future) {
        try {
            return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw rethrown(failed.getCause());
        } catch (TimeoutException late) {
            throw new AssertionError("nothing came within " + TIMEOUT_SECONDS + " seconds", late);
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted", interrupted);
        }
    }

    private static RuntimeException rethrown(Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(cause);
    }

    /** Waits for the latch, and fails with this problem if that takes too long. */
    public static void await(CountDownLatch latch, String problem) {
        try {
            if (!latch.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError(problem);
            }
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted", interrupted);
        }
    }

    /** Returns the entries of the list as "sequence:text", such as "3:hello". */
    public static List<String> texts(ListStore store, long id) {
        List<String> texts = new ArrayList<>();
        store.get(id, each((sequence, bytes) -> texts.add(sequence + ":" + UTF_8.decode(bytes))));
        return texts;
    }

    /** Returns the entries of the list from a sequence on, as "sequence:text". */
    public static List<String> texts(ListStore store, long id, long fromSequence) {
        List<String> texts = new ArrayList<>();
        store.get(id, fromSequence, each((sequence, bytes) -> texts.add(sequence + ":" + UTF_8.decode(bytes))));
        return texts;
    }

    public static List<Value> values(ListStore store, long id) {
        List<Value> values = new ArrayList<>();
        store.get(id, each((sequence, bytes) -> values.add(Value.of(sequence, copyOf(bytes)))));
        return values;
    }

    public static List<Value> values(ListStore store, long id, long fromSequence) {
        List<Value> values = new ArrayList<>();
        store.get(id, fromSequence, each((sequence, bytes) -> values.add(Value.of(sequence, copyOf(bytes)))));
        return values;
    }

    public static byte[] copyOf(ByteBuffer value) {
        byte[] copy = new byte[value.remaining()];
        value.get(value.position(), copy);
        return copy;
    }

    /** Receives one entry. */
    @FunctionalInterface
    public interface EntryAction {
        void take(long sequence, ByteBuffer value);
    }

    /** Returns a stream that passes every entry to the action, and does nothing at the end. */
    public static EntryStream each(EntryAction action) {
        return (sequence, value) -> {
            action.take(sequence, value);
            return true;
        };
    }
}
