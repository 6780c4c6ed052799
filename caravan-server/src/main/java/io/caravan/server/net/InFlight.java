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
 * The memory that one connection's requests take from when they are read until they are answered. Counts what comes in;
 * the protocol counts what the decoded requests take besides ({@link #hold}, {@link #tryHold}). The protocol reports each
 * request that has arrived completely ({@link #requestCame}) and that all of them have been answered ({@link #settle}),
 * and reads on only when it may ({@link #mayRead}). So a connection at a limit has its answers before it is read from
 * again. Used only on the event loop, except for {@link #wake} and what the budget asks.
 */
public final class InFlight extends ChannelDuplexHandler {
    private static final Logger LOG = LoggerFactory.getLogger(InFlight.class);
    private static final LineLimit LINES = new LineLimit();
    /** A client that sends less within the patience of the budget counts as one that sends nothing. */
    private static final int PROGRESS_BYTES = 8 * 1024;

    private final Channel channel;
    private final InFlightBudget budget;
    private final long limitBytes;
    private final AnswerMemory answers;
    private Runnable onRoom = () -> {};
    private Runnable onIdle = () -> {};
    private LongSupplier waitingNanos = () -> 0;
    /** Others read it. */
    private volatile long heldBytes;
    /** What the decoded requests take that are not answered, besides their bytes. */
    private long decodedBytes;

    private boolean onlyUnfinished;
    /** Whether a request has arrived completely since the last {@link #settle}. */
    private boolean cameWhole;

    private boolean waiting;
    /** Whether it waits with part of a request and nothing else; others read it. */
    private volatile boolean waitsBegun;

    private boolean paused;
    /** Whether only the client can bring this connection on; others read it. */
    private volatile boolean clientsTurn;
    /** When the client last did; others read it. */
    private volatile long progressNanos;
    /** Bytes that have come since {@link #progressNanos}. */
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
     * Sets what runs, on the event loop, when {@link #mayRead} or {@link #mayDecodeOrWake} has returned false and should be
     * called again.
     */
    public void onRoom(Runnable action) {
        onRoom = action;
    }

    /** Sets what ends the connection, on the event loop, whose client does not send the rest of a request. */
    void onIdle(Runnable action) {
        onIdle = action;
    }

    /**
     * Sets what tells, on any thread, for how many nanoseconds a request has waited that may wait for as long as its
     * client likes, so that those that follow it wait with it; 0 while none does.
     */
    public void waitingFor(LongSupplier nanos) {
        waitingNanos = nanos;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (closed) {
            // TLS passes on all that it has decoded, also when the first of it has ended the connection.
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
                // Or the socket would be read several times before the protocol is asked.
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

    /** Only the event loop changes it, so nothing is lost between the read and the write. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    private void take(long bytes) {
        heldBytes += bytes;
        budget.take(bytes);
    }

    /** Netty's decoders ask for more whenever they have part of a message, though the socket is not to be read. */
    @Override
    public void read(ChannelHandlerContext context) {
        if (!paused) {
            context.read();
        }
    }

    /** Counts what a decoded request takes besides its bytes, whether there is room or not, until it is settled. */
    public void hold(long bytes) {
        if (!closed) {
            decodedBytes += bytes;
            take(bytes);
        }
    }

    /** As {@link #hold}, before the memory is allocated; returns false, and counts nothing, when it must not be now. */
    public boolean tryHold(long bytes) {
        if (!closed && !budget.admits(this, begun())) {
            return false;
        }
        hold(bytes);
        return true;
    }

    /** Whether the next request may be decoded, besides those that are not answered. */
    public boolean mayDecode() {
        return closed || decodedBytes < limitBytes && budget.admits(this, begun());
    }

    /**
     * As {@link #mayDecode}; when only the others leave no room, {@link #onRoom}'s action is run when there may be. For a
     * request that has come completely: no more input may follow that would have it looked at again.
     */
    public boolean mayDecodeOrWake() {
        return mayDecode() || decodedBytes < limitBytes && admitsOrWait(begun());
    }

    public void requestCame() {
        cameWhole = true;
        // What follows is another request.
        onlyUnfinished = false;
        progress();
    }

    /** All requests that arrived completely have been answered; {@code unfinishedBytes} are held of one that has not. */
    public void settle(long unfinishedBytes) {
        settle(unfinishedBytes, true);
    }

    /**
     * All requests that were decoded have been answered.
     *
     * @param unfinishedBytes what is held of one that has not been decoded completely, and of what follows it
     * @param begun whether more bytes are needed for that one, or memory
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
     * Whether more may be read. A request that has begun may be finished, up to the limit of its length, whatever the
     * connection's limit; when all connections together are at theirs, only one at a time goes on.
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

    /** Asks again once it is known to wait, as what it waits for may just have come. */
    private boolean admitsOrWait(boolean begun) {
        waitsBegun = begun;
        if (!waiting) {
            waiting = true;
            budget.await(this);
        }
        return budget.admits(this, begun);
    }

    /** Whether it would go on as the exception; on any thread. */
    boolean waitsBegun() {
        return waitsBegun && !closed;
    }

    /** Whether it holds nothing any more and never will; on any thread. */
    boolean closed() {
        return closed;
    }

    /** What it holds; on any thread. */
    long heldBytes() {
        return heldBytes;
    }

    /**
     * Whether it holds memory, only its client can bring it on, and has not since then; on any thread. One that waits with
     * a whole request, or takes no answers, counts only if it holds much.
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

    /** Whether a request that may wait for as long as its client likes has held up those behind it for a while. */
    boolean waitsLong() {
        return waitingNanos.getAsLong() >= budget.patience().toNanos();
    }

    /** Ends the connection: its client does nothing, while others wait for the memory that it holds. */
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

    /** There may be room; on any thread. */
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

    /** Nothing more is held, and nothing that comes in is kept. */
    void close() {
        if (closed) {
            return;
        }
        // First, so that a thread that makes this the exception meanwhile sees it.
        closed = true;
        budget.give(heldBytes);
        heldBytes = 0;
        budget.closed(this);
        budget.settled(this);
        paused = false;
    }
}
