package io.caravan.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCountUtil;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of one connection's requests, from when they are read until they have their replies. Counts incoming
 * bytes; the protocol counts the additional memory of decoded requests ({@link #hold}, {@link #tryHold}). It reports
 * each request that has arrived completely ({@link #requestCame}), and when all of them have replies ({@link #settle}),
 * and reads on only when it may ({@link #mayRead}). A connection at a limit thus receives its replies before it is read
 * again.
 *
 * <p>Used only on the event loop, except for {@link #wake} and the methods that the budget calls.
 */
public final class InFlight extends ChannelDuplexHandler {
    private static final Logger LOG = LoggerFactory.getLogger(InFlight.class);
    private static final LineLimit LINES = new LineLimit();
    /** A client that sends fewer bytes within the budget's patience counts as idle. */
    private static final int PROGRESS_BYTES = 8 * 1024;

    private final Channel channel;
    private final InFlightBudget budget;
    private final long limitBytes;
    private final AnswerMemory answers;
    private Runnable onRoom = () -> {};
    private Runnable onIdle = () -> {};
    private LongSupplier waitingNanos = () -> 0;
    /** The bytes held. Read by other threads. */
    private volatile long heldBytes;
    /** The memory of decoded requests without replies, in addition to their bytes. */
    private long decodedBytes;

    private boolean onlyUnfinished;
    /** Whether a request has arrived completely since the last {@link #settle}. */
    private boolean cameWhole;

    private boolean waiting;
    /** Whether it waits with part of a request and nothing else. Read by other threads. */
    private volatile boolean waitsBegun;

    private boolean paused;
    /** Whether only the client can advance this connection. Read by other threads. */
    private volatile boolean clientsTurn;
    /** The time of the client's last progress. Read by other threads. */
    private volatile long progressNanos;
    /** The bytes received since {@link #progressNanos}. */
    private long progressBytes;

    private volatile boolean closed;

    InFlight(Channel channel, InFlightBudget budget, long limitBytes, AnswerMemory answers) {
        this.channel = channel;
        this.budget = budget;
        this.limitBytes = limitBytes;
        this.answers = answers;
        budget.opened(this);
    }

    /**
     * Sets the action that runs, on the event loop, when {@link #mayRead} or {@link #mayDecodeOrWake} has returned
     * false and should be called again.
     */
    public void onRoom(Runnable action) {
        onRoom = action;
    }

    /**
     * Sets the action that ends the connection, on the event loop, when its client does not send the rest of a request.
     */
    void onIdle(Runnable action) {
        onIdle = action;
    }

    /**
     * Sets the source, called on any thread, of how many nanoseconds a request has waited whose client chooses how long
     * it waits, such as a blocking pop. Later requests of the connection wait with it. The source returns 0 if no such
     * request exists.
     */
    public void waitingFor(LongSupplier nanos) {
        waitingNanos = nanos;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (closed) {
            // TLS passes on everything that it has decoded, even if the first part has ended the connection.
            ReferenceCountUtil.release(message);
            return;
        }
        if (message instanceof ByteBuf bytes) {
            int came = bytes.readableBytes();
            progressBytes += came;
            if (heldBytes == 0 || progressBytes >= PROGRESS_BYTES) {
                progress();
            }
            onlyUnfinished = false;
            clientsTurn = false;
            take(came);
            if (!budget.hasRoom(heldBytes) || heldBytes >= limitBytes) {
                // Otherwise the socket would be read several times before the protocol calls mayRead.
                paused = true;
                channel.config().setAutoRead(false);
            }
        }
        context.fireChannelRead(message);
    }

    private void progress() {
        progressBytes = 0;
        progressNanos = budget.nanoTime();
    }

    /** Adds to the count. Only the event loop changes it, so no update is lost between the read and the write. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    private void take(long bytes) {
        heldBytes += bytes;
        budget.take(bytes);
    }

    /** Suppresses reads while paused: Netty's decoders request input whenever they have part of a message. */
    @Override
    public void read(ChannelHandlerContext context) {
        if (!paused) {
            context.read();
        }
    }

    /** Counts the additional memory of a decoded request, regardless of the limits, until it is settled. */
    public void hold(long bytes) {
        if (!closed) {
            decodedBytes += bytes;
            take(bytes);
        }
    }

    /**
     * The same as {@link #hold}, before the memory is allocated. Returns false, and counts nothing, if a limit prevents
     * it now.
     */
    public boolean tryHold(long bytes) {
        if (!closed && !budget.admits(this, begun())) {
            return false;
        }
        hold(bytes);
        return true;
    }

    /** Whether the next request may be decoded, in addition to those without replies. */
    public boolean mayDecode() {
        return closed || decodedBytes < limitBytes && budget.admits(this, begun());
    }

    /**
     * The same as {@link #mayDecode}; if only the other connections leave no space, the action of {@link #onRoom} runs
     * when they may. For a request that has arrived completely, after which no input may follow that would trigger
     * another check.
     */
    public boolean mayDecodeOrWake() {
        return mayDecode() || decodedBytes < limitBytes && admitsOrWait(begun());
    }

    public void requestCame() {
        cameWhole = true;
        // The bytes that follow belong to another request.
        onlyUnfinished = false;
        progress();
    }

    /**
     * Records that all requests that arrived completely have replies; {@code unfinishedBytes} are held for a partial
     * one.
     */
    public void settle(long unfinishedBytes) {
        settle(unfinishedBytes, true);
    }

    /**
     * Records that all decoded requests have replies.
     *
     * @param unfinishedBytes the bytes held for a request that is not completely decoded, and for those after it
     * @param begun whether that request needs more bytes, or memory
     */
    public void settle(long unfinishedBytes, boolean begun) {
        if (closed) {
            return;
        }
        onlyUnfinished = begun;
        decodedBytes = 0;
        if (unfinishedBytes > heldBytes) {
            take(unfinishedBytes - heldBytes);
        } else {
            budget.give(heldBytes - unfinishedBytes);
            heldBytes = unfinishedBytes;
        }
        if (cameWhole || heldBytes == 0) {
            cameWhole = false;
            budget.settled(this);
        }
    }

    private boolean begun() {
        return onlyUnfinished && heldBytes > 0;
    }

    /**
     * Whether more may be read. A request that has begun may be completed, up to its maximum length, regardless of the
     * connection's limit. When all connections together are at their limit, only one at a time continues.
     */
    public boolean mayRead() {
        boolean begun = begun();
        boolean wasPaused = paused;
        paused = !onlyUnfinished && heldBytes >= limitBytes || !budget.admits(this, begun) && !admitsOrWait(begun);
        if (wasPaused && !paused) {
            progress();
        }
        clientsTurn = begun && !paused;
        return !paused;
    }

    /** Checks again after the connection is registered as waiting, because memory may have become free in between. */
    private boolean admitsOrWait(boolean begun) {
        waitsBegun = begun;
        if (!waiting) {
            waiting = true;
            budget.await(this);
        }
        return budget.admits(this, begun);
    }

    /** Whether it would continue as the exception. Callable on any thread. */
    boolean waitsBegun() {
        return waitsBegun && !closed;
    }

    /** Whether it holds no memory and never will again. Callable on any thread. */
    boolean closed() {
        return closed;
    }

    /** Returns the bytes held. Callable on any thread. */
    long heldBytes() {
        return heldBytes;
    }

    /**
     * Whether it holds memory, only its client can advance it, and the client has not done so since the given time.
     * Callable on any thread. A connection that waits with a complete request, or whose client receives no replies,
     * counts only if it holds much.
     */
    boolean idleSince(long nanos, long littleBytes) {
        long held = heldBytes;
        if (held == 0) {
            return false;
        }
        return clientsTurn && progressNanos - nanos <= 0
                || held > littleBytes && waitsLong()
                || held > littleBytes && !channel.isWritable() && answers.stalledSince(nanos);
    }

    /** Whether a request whose client chooses how long it waits has blocked others for the budget's patience. */
    boolean waitsLong() {
        return waitingNanos.getAsLong() >= budget.patience().toNanos();
    }

    /** Ends the connection: its client is idle while others wait for the memory that it holds. */
    void closeIdle() {
        long left = LINES.next();
        if (left >= 0) {
            logIdle(left);
        }
        channel.eventLoop().execute(() -> {
            if (clientsTurn) {
                onIdle.run();
            } else {
                channel.close();
            }
        });
    }

    private void logIdle(long left) {
        LOG.warn(
                "closing {}: it holds {} bytes of requests, has neither sent {} bytes nor taken an answer for {}, and the"
                        + " requests of all connections are at their limit ({} more since the last line)",
                channel.remoteAddress(),
                heldBytes,
                PROGRESS_BYTES,
                budget.patience(),
                left);
    }

    /** Notifies this connection that memory may be free. Callable on any thread. */
    void wake() {
        if (!channel.isActive()) {
            return;
        }
        channel.eventLoop().execute(() -> {
            waiting = false;
            onRoom.run();
        });
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        context.fireChannelInactive();
        close();
    }

    /** Releases all memory, and discards further input. */
    void close() {
        if (closed) {
            return;
        }
        // Set first, so that a thread that concurrently makes this the exception sees it.
        closed = true;
        budget.give(heldBytes);
        heldBytes = 0;
        budget.closed(this);
        budget.settled(this);
        paused = false;
    }
}
