package io.caravan.testing;

import io.caravan.CaravanException;
import io.caravan.WriteCallback;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Records the calls of callbacks in their order. */
public final class Tellings {

    /**
     * One call of a callback.
     *
     * @param tag the callback
     * @param sequence the sequence on success
     * @param problem the exception on failure
     */
    public record Telling(long tag, long sequence, @Nullable CaravanException problem) {

        public static Telling success(long tag, long sequence) {
            return new Telling(tag, sequence, null);
        }
    }

    private final List<Telling> told = new ArrayList<>();

    /** Returns a callback with this tag. */
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

    /** Returns all calls so far. */
    public synchronized List<Telling> all() {
        return List.copyOf(told);
    }

    /** Waits for at least this many calls and returns all of them. */
    public synchronized List<Telling> await(int count) {
        Eventually.awaitNotified(
                this, () -> told.size() >= count, () -> "only " + told.size() + " of " + count + " were told: " + told);
        return List.copyOf(told);
    }

    /** Discards all calls so far. */
    public synchronized void clear() {
        told.clear();
    }
}
