package io.caravan.testing;

import io.caravan.CaravanException;
import io.caravan.WriteCallback;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Records the calls to callbacks, in order. */
public final class Completions {

    /**
     * One call to a callback.
     *
     * @param tag identifies the callback
     * @param sequence the sequence on success
     * @param problem the exception on failure
     */
    public record Completion(
            long tag, long sequence, @Nullable CaravanException problem) {

        public static Completion success(long tag, long sequence) {
            return new Completion(tag, sequence, null);
        }
    }

    private final List<Completion> calls = new ArrayList<>();

    /** Returns a callback whose calls are recorded with this tag. */
    public WriteCallback callback(long tag) {
        return new WriteCallback() {
            @Override
            public void success(long sequence) {
                add(Completion.success(tag, sequence));
            }

            @Override
            public void failure(CaravanException problem) {
                add(new Completion(tag, -1, problem));
            }
        };
    }

    private synchronized void add(Completion completion) {
        calls.add(completion);
        notifyAll();
    }

    /** Returns all calls so far. */
    public synchronized List<Completion> all() {
        return List.copyOf(calls);
    }

    /** Waits for at least this many calls and returns all of them. */
    public synchronized List<Completion> await(int count) {
        Eventually.awaitNotified(
                this,
                () -> calls.size() >= count,
                () -> "only " + calls.size() + " of " + count + " were completed: " + calls);
        return List.copyOf(calls);
    }

    /** Discards all calls so far. */
    public synchronized void clear() {
        calls.clear();
    }
}
