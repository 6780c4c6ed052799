package io.caravan.testing;

import io.caravan.CaravanException;
import io.caravan.WriteCallback;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Remembers what callbacks were told, in the order in which they were told. */
public final class Tellings {

    /**
     * One call of a callback.
     *
     * @param tag which callback
     * @param sequence what it was told on success
     * @param problem what it was told on failure
     */
    public record Telling(long tag, long sequence, @Nullable CaravanException problem) {

        public static Telling success(long tag, long sequence) {
            return new Telling(tag, sequence, null);
        }
    }

    private final List<Telling> told = new ArrayList<>();

    /** A callback under this tag. */
    public WriteCallback callback(long tag) {
        return new WriteCallback() {
            @Override
            public void success(long sequence) {
                add(Telling.success(tag, sequence));
            }

            @Override
            public void failure(CaravanException problem) {
                add(new Telling(tag, -1, problem));
            }
        };
    }

    private synchronized void add(Telling telling) {
        told.add(telling);
        notifyAll();
    }

    /** Everything told so far. */
    public synchronized List<Telling> all() {
        return List.copyOf(told);
    }

    /** Waits until at least so many were told, and returns all. */
    public synchronized List<Telling> await(int count) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(StoreCalls.PATIENCE_SECONDS);
        try {
            while (told.size() < count) {
                long leftMillis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
                if (leftMillis <= 0) {
                    throw new AssertionError("only " + told.size() + " of " + count + " were told: " + told);
                }
                wait(leftMillis);
            }
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted", interrupted);
        }
        return List.copyOf(told);
    }

    /** Forgets what was told. */
    public synchronized void clear() {
        told.clear();
    }
}
