package io.caravan.server.protocol.resp;

import io.caravan.server.document.Outcome;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A read that may take several turns on reading threads. While the read is waiting for a client or for a write, it
 * occupies no thread. Turns may run on different threads, but never concurrently, and each turn sees the memory writes
 * of the previous turn.
 */
interface ResumableRead {

    /**
     * Runs one turn of the read. An exception becomes the error reply, unless the reply is complete.
     *
     * @return true if no further turn is needed; false if {@link PendingReply#wake()} will run or has already run, so
     *     that this turn must do nothing more
     */
    boolean proceed();

    /** Starts a long operation, whose outcome becomes the reply. Occupies no thread while the operation runs. */
    static <T> ResumableRead ofOperation(PendingReply place, Consumer<Outcome<T>> start, Function<T, Reply> describe) {
        return () -> {
            place.session.requireStillKnown();
            start.accept(Outcome.of(
                    result -> place.completeLast(describe.apply(result)),
                    problem -> place.completeLast(CommandException.reply(problem))));
            return false;
        };
    }
}
