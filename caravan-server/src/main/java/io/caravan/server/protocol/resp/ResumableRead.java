package io.caravan.server.protocol.resp;

/**
 * A read that may take several turns on reading threads. While the read is waiting for a client or for a write, it
 * occupies no thread. Turns may run on different threads, but never concurrently, and each turn sees the memory writes
 * of the previous turn.
 */
public interface ResumableRead {

    /**
     * Runs one turn of the read. An exception becomes the error reply, unless the reply is complete.
     *
     * @return true if no further turn is needed; false if {@link Context#wake()} will run or has already run, so that
     *     this turn must do nothing more
     */
    boolean proceed();

    /**
     * The connection to which a {@link ResumableRead} replies.
     *
     * @param place receives the reply
     * @param wake schedules the next turn; must be run once for each turn that returns false, on any thread
     */
    record Context(Session session, PendingReply place, Runnable wake) {}
}
