package io.caravan.server.http;

import io.caravan.server.security.Principal;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request that has come in whole, and its answer: {@linkplain #answer whole}, from any thread, or in pieces, on the event
 * loop, from {@link #start} to {@link #finish}. What an endpoint still has open when the exchange ends, by its answer or
 * because the client has gone, it closes in an action that it left with {@link #atEnd}.
 */
final class Exchange {
    private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);

    private final ResponseWriter writer;
    private final Route route;
    private final Principal principal;
    private final Request request;
    private final Runnable ended;
    private final long startedNanos = System.nanoTime();
    private final List<Runnable> endActions = new ArrayList<>(1);
    private String operation;
    private int status;
    private boolean over;
    private boolean finished;
    private @Nullable Runnable onWritable;
    private @Nullable Runnable onDrain;

    /**
     * Makes an exchange that is not answered.
     *
     * @param ended is run on the event loop when the answer is on its way
     */
    Exchange(ResponseWriter writer, Route route, Principal principal, Request request, Runnable ended) {
        this.writer = writer;
        this.route = route;
        this.principal = principal;
        this.request = request;
        this.ended = ended;
        this.operation = route.operation();
    }

    Request request() {
        return request;
    }

    Route route() {
        return route;
    }

    Principal principal() {
        return principal;
    }

    EventExecutor loop() {
        return writer.loop();
    }

    /** The scheme of the URLs that the client asks by. */
    String scheme() {
        return writer.scheme();
    }

    /** Names a part of the route's operation, for the figures; before the answer. */
    void operation(String part) {
        operation = part;
    }

    String operation() {
        return operation;
    }

    /** The answer's code; 0 when there was none. */
    int status() {
        return status;
    }

    long startedNanos() {
        return startedNanos;
    }

    /** Answers; on any thread, once. Does nothing when the client has gone. */
    void answer(Answer answer) {
        answer(answer, Unpooled.wrappedBuffer(answer.body()));
    }

    /** Answers with a body, which is released; as {@link #answer(Answer)}. */
    void answer(Answer answer, ByteBuf body) {
        onLoop(() -> {
            if (over) {
                body.release();
            } else {
                note(answer);
                writer.whole(answer, body);
                end();
            }
        });
    }

    /** Ends the request, on any thread: with an error, or, when the answer has begun to go out, with the connection. */
    void fail(Throwable problem) {
        Problem told = Problems.of(problem);
        onLoop(() -> {
            if (!over && status == 0) {
                answer(told.answer());
            } else if (!over) {
                LOG.warn("closing {}: its answer cannot be finished: {}", writer.peer(), told.detail());
                writer.abort();
            }
        });
    }

    /** Runs part of what makes the answer, on any thread; what it throws ends the exchange. An {@link Error} goes on. */
    void run(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException problem) {
            fail(problem);
        } catch (Error broken) {
            fail(broken);
            throw broken;
        }
    }

    private void onLoop(Runnable action) {
        if (loop().inEventLoop()) {
            action.run();
        } else {
            loop().execute(action);
        }
    }

    /** Starts an answer whose body follows. */
    void start(Answer head) {
        if (!over) {
            note(head);
            writer.head(head);
        }
    }

    private void note(Answer answer) {
        status = answer.status().code();
        assert route.allStatuses().contains(status) : route.operation() + " does not say that it answers " + status;
    }

    /** Writes the next piece of the body, and releases it. */
    void write(ByteBuf piece) {
        if (over) {
            piece.release();
        } else {
            writer.piece(piece);
        }
    }

    /** Ends a body. */
    void finish() {
        if (!over) {
            writer.last();
            end();
        }
    }

    /** Runs the action when there is room to write, which may be now. Only the last one that was left is run. */
    void whenWritable(Runnable action) {
        onWritable = action;
        writable();
    }

    /** There may be room to write. */
    void writable() {
        Runnable action = onWritable;
        if (action != null && !over && writer.writable()) {
            onWritable = null;
            action.run();
        }
    }

    /** Leaves an action that ends the answer early when the server stops. */
    void onDrain(Runnable action) {
        onDrain = action;
    }

    /** The server stops. */
    void drain() {
        if (onDrain != null && !over) {
            onDrain.run();
        }
    }

    /** Leaves an action for the end; if that has come, it is run now. The event loop's alone, as the action is. */
    void atEnd(Runnable action) {
        if (over) {
            action.run();
        } else {
            endActions.add(action);
        }
    }

    /** Whether the answer is complete, or the client gone. */
    boolean over() {
        return over;
    }

    private void end() {
        finished = true;
        gone();
        ended.run();
    }

    /** Whether the answer is complete. */
    boolean finished() {
        return finished;
    }

    /** The connection is gone. */
    void gone() {
        if (!over) {
            over = true;
            endActions.forEach(Runnable::run);
        }
    }
}
