package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.MovedException;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.WaitingTasks;
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
 * A request that has arrived completely, and its response. The response is either sent by one call to {@link #respond},
 * on any thread, or streamed on the event loop, from {@link #start} to {@link #finish}.
 *
 * <p>An endpoint uses {@link #atEnd} to release resources when the response is complete or the client has disconnected.
 */
public final class HttpExchange {
    private static final Logger LOG = LoggerFactory.getLogger(HttpExchange.class);

    private final ResponseWriter writer;
    private final Route route;
    private final Principal principal;
    private Request request;
    private @Nullable DocumentName documentName;
    private final Runnable ended;
    private final long startedNanos = System.nanoTime();
    private final List<Runnable> endActions = new ArrayList<>(1);
    private String operation;
    private int status;
    private final WaitingTasks waiting = new WaitingTasks();

    private volatile boolean over;
    private boolean finished;
    private @Nullable Runnable onWritable;
    private @Nullable Runnable onDrain;
    private boolean draining;
    private Runnable bodyReleased = () -> {};

    /**
     * Creates an exchange without a response. {@code ended} runs on the event loop when the response has been written.
     */
    public HttpExchange(ResponseWriter writer, Route route, Principal principal, Request request, Runnable ended) {
        this.writer = writer;
        this.route = route;
        this.principal = principal;
        this.request = request;
        this.ended = ended;
        this.operation = route.operation();
    }

    public Request request() {
        return request;
    }

    /** Releases the memory of the request body, which is no longer needed. Called on the event loop. */
    public void releaseBody() {
        request = request.withBody(Request.NO_BODY);
        bodyReleased.run();
    }

    void onBodyReleased(Runnable action) {
        bodyReleased = action;
    }

    public Route route() {
        return route;
    }

    public Principal principal() {
        return principal;
    }

    public DocumentName documentName() {
        if (documentName == null) {
            documentName = StreamName.of(route.rest(request.path()));
        }
        return documentName;
    }

    public EventExecutor loop() {
        return writer.loop();
    }

    public ConnectionMemory memory() {
        return writer.memory();
    }

    public String scheme() {
        return writer.scheme();
    }

    /** Sets the operation name for the metrics. Must be called before the response is written. */
    public void operation(String part) {
        operation = part;
    }

    public String operation() {
        return operation;
    }

    /** Returns the status code of the response, or 0 if there is no response yet. */
    public int status() {
        return status;
    }

    long startedNanos() {
        return startedNanos;
    }

    /** Sends the response. Call this once, on any thread. Does nothing if the client has disconnected. */
    public void respond(Response response) {
        respond(response, Unpooled.wrappedBuffer(response.body()));
    }

    /** Sends the response with this body, as {@link #respond(Response)} does, and releases the body. */
    public void respond(Response response, ByteBuf body) {
        onLoop(body, () -> {
            if (over) {
                body.release();
            } else {
                note(response);
                writer.whole(response, body);
                end();
            }
        });
    }

    /**
     * Responds with an error, or closes the connection if part of the response has already been sent. Callable on any
     * thread.
     */
    public void fail(Throwable problem) {
        Problem reported = problem instanceof MovedException moved && route.aboutDocument()
                ? Problem.redirect(moved, request.target())
                : Problem.of(problem);
        onLoop(() -> {
            if (!over && status == 0) {
                respond(reported.response());
            } else if (!over) {
                LOG.warn("closing {}: its response cannot be completed: {}", writer.peer(), reported.detail());
                writer.abort();
            }
        });
    }

    /**
     * Runs part of the request's work, on any thread. An exception ends the exchange; an {@link Error} is also
     * rethrown.
     */
    public void run(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException problem) {
            fail(problem);
        } catch (Error broken) {
            fail(broken);
            throw broken;
        }
    }

    /**
     * Wraps work that waits for a shared resource, such as a reading thread or space in the store. The wrapper runs the
     * work at most once, and drops the work when the exchange ends. Callable on any thread.
     */
    public Runnable untilEnd(Runnable work) {
        return waiting.add(work);
    }

    /** Runs the action on the event loop, or immediately if the current thread is the event loop's thread. */
    public void onLoop(Runnable action) {
        if (loop().inEventLoop()) {
            action.run();
        } else {
            loop().execute(action);
        }
    }

    /**
     * Runs an action that writes or drops a part of a response, in the same way as {@link #onLoop(Runnable)}. Counts
     * the memory of the part until the action begins.
     */
    public void onLoop(ByteBuf part, Runnable action) {
        int bytes = part.capacity();
        memory().holdReply(bytes);
        onLoop(() -> {
            memory().holdReply(-bytes);
            action.run();
        });
    }

    /** Starts a streamed response. */
    public void start(Response head) {
        if (!over) {
            note(head);
            writer.head(head);
        }
    }

    private void note(Response response) {
        status = response.status();
        assert route.allStatuses().contains(status) : route.operation() + " does not declare status " + status;
    }

    /** Writes the next chunk of the body, and releases it. */
    public void write(ByteBuf piece) {
        if (over) {
            piece.release();
        } else {
            writer.piece(piece);
        }
    }

    public void finish() {
        if (!over) {
            writer.last();
            end();
        }
    }

    /**
     * Whether the connection has space for another chunk, because the client has received enough of the earlier chunks.
     */
    public boolean writable() {
        return writer.writable();
    }

    /** Runs the action when the connection is writable, possibly immediately. A later call replaces the action. */
    public void whenWritable(Runnable action) {
        onWritable = action;
        continueIfWritable();
    }

    /** Runs the action of {@link #whenWritable} if the connection is writable now. */
    void continueIfWritable() {
        Runnable action = onWritable;
        if (action != null && !over && writable()) {
            onWritable = null;
            action.run();
        }
    }

    /**
     * Begins a wait for new values. When the server stops or the client signals the end of its data, the action runs
     * and ends the response early. If this has happened already, the action runs immediately. Called on the event loop.
     */
    public void waitForValues(Runnable drain) {
        memory().waitingFor(() -> System.nanoTime() - startedNanos);
        atEnd(() -> memory().waitingFor(() -> 0));
        onDrain = drain;
        if (draining) {
            drain();
        }
    }

    void drain() {
        draining = true;
        if (onDrain != null && !over) {
            onDrain.run();
        }
    }

    /**
     * Registers an action to run at the end of the exchange, or runs it now if the exchange has ended. Called on the
     * event loop.
     */
    public void atEnd(Runnable action) {
        if (over) {
            action.run();
        } else {
            endActions.add(action);
        }
    }

    /** Whether the response is complete, or the client has disconnected. */
    public boolean over() {
        return over;
    }

    private void end() {
        finished = true;
        gone();
        ended.run();
    }

    boolean finished() {
        return finished;
    }

    /** Ends the exchange, because the connection is closed. */
    void gone() {
        if (!over) {
            over = true;
            waiting.close();
            endActions.forEach(Runnable::run);
        }
    }
}
