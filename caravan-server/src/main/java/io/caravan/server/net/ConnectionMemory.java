package io.caravan.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accounts for the memory of one connection: requests that have no reply yet, replies that the client has not received
 * yet, and the registrations of a waiting client. This handler counts the bytes that are read and written; the protocol
 * reports the additional memory that it uses.
 *
 * <p>The protocol reports when a request has arrived completely ({@link #requestArrived}), and when all requests have
 * replies ({@link #settle}). The protocol continues to read only if {@link #mayRead} allows it, so a client at a limit
 * receives its replies before the server reads more. The protocol creates a potentially large reply only when there is
 * {@linkplain #room space}.
 *
 * <p>Requests are counted on the event loop, replies and waits on any thread.
 */
public final class ConnectionMemory extends ChannelDuplexHandler {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionMemory.class);
    private static final LogRateLimiter LINES = new LogRateLimiter();
    /** The number of bytes that a client must send within {@link MemoryBudget#fullIdleTimeout} to count as active. */
    private static final int PROGRESS_BYTES = 8 * 1024;
    /**
     * The number of held reply bytes below which a connection may create small replies even when there is no space, so
     * that its client can continue to write.
     */
    private static final int LITTLE_REPLY_BYTES = 4 * 1024;
    /** Approximate memory of a connection's replies at which the connection stops running requests. */
    private static final int FULL_REPLY_BYTES = 1024 * 1024;

    private final Channel channel;
    private final MemoryBudget budget;
    /** The client's network; null if the client is on this machine. */
    private final @Nullable ClientSubnet peer;

    private final Queue<Runnable> whenRoom = new ConcurrentLinkedQueue<>();
    private Runnable onRoom = () -> {};
    private Runnable onIdle = () -> {};
    private volatile LongSupplier waitingNanos = () -> 0;
    private volatile boolean closed;

    /** The bytes held for requests. Written only on the event loop, and read by other threads. */
    private volatile long requestBytes;
    /** The memory that decoded requests without replies take in addition to their bytes. */
    private long decodedBytes;

    private boolean onlyUnfinished;
    /** Whether a request has arrived completely since the last {@link #settle}. */
    private boolean cameWhole;

    private boolean paused;
    /** Whether a request has arrived completely since the last {@link #mayRead}. */
    private boolean progressed;
    /** Whether the connection is waiting for the client to send the rest of a request. Read by other threads. */
    private volatile boolean clientsTurn;
    /** The time of the client's last progress. Read by other threads. */
    private volatile long progressNanos;
    /** The bytes received since {@link #progressNanos}. */
    private long progressBytes;

    private long received;
    private long sent;

    /** Whether the budget has selected the connection for closing. Used only by the budget's timer. */
    private boolean condemned;

    /** The bytes held for replies and messages. Written under the lock, and read without it for every request. */
    private volatile long replyBytes;
    /** The part of {@link #replyBytes} that belongs to replies. Written under the lock. */
    private volatile long ownReplyBytes;

    // Guarded by this.
    private long pushedBytes;
    /**
     * The time at which reply bytes were last released or, if later, at which the connection began to hold reply bytes.
     */
    private long repliesProgressNanos;

    private long waitBytes;

    ConnectionMemory(Channel channel, MemoryBudget budget) {
        this.channel = channel;
        this.budget = budget;
        ClientSubnet network = ClientSubnet.of(channel.remoteAddress());
        this.peer = network == null || network.loopback() ? null : network;
        budget.opened(this);
    }

    /**
     * Sets the action that runs when there may be space again, after a method of this class has returned false because
     * other connections use the memory. The action runs on the event loop.
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
     * Sets the function that returns the elapsed waiting time, in nanoseconds, of a request whose client chooses how
     * long to wait, such as a blocking pop. Later requests of the connection wait for that request. The function is
     * called on any thread, and returns 0 if no such request is waiting.
     */
    public void waitingFor(LongSupplier nanos) {
        waitingNanos = nanos;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (closed) {
            // The TLS handler passes on everything that it has decoded, even if the first part has ended the
            // connection.
            ReferenceCountUtil.release(message);
            return;
        }
        if (message instanceof ByteBuf bytes) {
            int came = bytes.readableBytes();
            received++;
            progressBytes += came;
            if (requestBytes == 0 || progressBytes >= PROGRESS_BYTES) {
                progress();
            }
            onlyUnfinished = false;
            clientsTurn = false;
            addRequests(came);
            if (!budget.hasRoom(requestBytes) || requestBytes >= budget.connectionLimitBytes) {
                // Otherwise the socket would be read several times before the protocol calls mayRead.
                paused = true;
                channel.config().setAutoRead(false);
            }
        }
        context.fireChannelRead(message);
    }

    private void progress() {
        progressed = false;
        progressBytes = 0;
        progressNanos = budget.nanoTime();
    }

    /** Adds to the count of request bytes. Only the event loop updates this count, so no update is lost. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    private void addRequests(long bytes) {
        requestBytes += bytes;
        budget.addRequests(bytes);
    }

    /** Suppresses reads while paused, because Netty's decoders request input whenever they have part of a message. */
    @Override
    public void read(ChannelHandlerContext context) {
        if (!paused) {
            context.read();
        }
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf bytes) {
            int taken = bytes.capacity();
            holdReply(taken);
            context.write(message, promise.unvoid().addListener(written -> taken(taken)));
        } else {
            context.write(message, promise);
        }
    }

    private void taken(long bytes) {
        sent++;
        boolean wasFull = full();
        holdReply(-bytes);
        if (wasFull && !full()) {
            onRoom.run();
        }
    }

    /** Returns a number that changes whenever bytes have been read or written. Call this only on the event loop. */
    long transfers() {
        return received + sent;
    }

    /** Returns the number of messages that the client has received. Call this only on the event loop. */
    long sent() {
        return sent;
    }

    /** Counts the additional memory of a decoded request, regardless of the limits, until {@link #settle}. */
    public void hold(long bytes) {
        if (!closed) {
            decodedBytes += bytes;
            addRequests(bytes);
        }
    }

    /**
     * Counts memory as {@link #hold} does, but before the memory is allocated. Returns false, and counts nothing, if
     * the other connections leave too little space.
     */
    public boolean tryHold(long bytes) {
        boolean admitted = closed || budget.admits(this, begun());
        if (admitted) {
            hold(bytes);
        }
        return admitted;
    }

    /** Whether another request may be decoded while earlier ones have no replies yet. */
    public boolean mayDecode() {
        return closed || decodedBytes < budget.connectionLimitBytes && budget.admits(this, begun());
    }

    /** Records that a request has arrived completely. */
    public void requestArrived() {
        cameWhole = true;
        // The bytes that follow belong to another request.
        onlyUnfinished = false;
        // The time matters only once the connection waits for the rest of a request, and is taken then.
        progressed = true;
        if (clientsTurn) {
            clientsTurn = false;
        }
    }

    /**
     * Records that all decoded requests have replies.
     *
     * @param unfinishedBytes the bytes held for a request that is not completely decoded, and for later requests
     * @param begun whether the request that is not completely decoded needs more bytes or memory
     */
    public void settle(long unfinishedBytes, boolean begun) {
        if (closed) {
            return;
        }
        onlyUnfinished = begun;
        decodedBytes = 0;
        addRequests(unfinishedBytes - requestBytes);
        if (cameWhole || requestBytes == 0) {
            cameWhole = false;
            budget.settled(this);
        }
    }

    private boolean begun() {
        return onlyUnfinished && requestBytes > 0;
    }

    /**
     * Whether the protocol may read more. It may read the rest of a request that has begun, up to the maximum length,
     * regardless of the connection's limit. While all connections together are at their limit, only one connection at a
     * time may complete its request.
     */
    public boolean mayRead() {
        boolean begun = begun();
        boolean wasPaused = paused;
        boolean over = !onlyUnfinished && requestBytes >= budget.connectionLimitBytes;
        paused = !closed && (over || !budget.admits(this, begun));
        if (progressed || wasPaused && !paused) {
            progress();
        }
        clientsTurn = begun && !paused;
        return !paused;
    }

    /** Returns the number of bytes held for requests. Callable on any thread. */
    long requestBytes() {
        return requestBytes;
    }

    /** Counts bytes of a reply; a negative number releases bytes. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    public synchronized void holdReply(long bytes) {
        if (!closed) {
            if (replyBytes == 0 || bytes < 0) {
                repliesProgressNanos = budget.nanoTime();
            }
            replyBytes += bytes;
            ownReplyBytes = replyBytes - pushedBytes;
            // Called under the lock; otherwise the end of the connection could release bytes that are not counted yet.
            budget.addReplies(bytes);
        }
    }

    /**
     * Counts the bytes of a message that is not part of a reply; a negative number releases bytes. Such a message may
     * have to wait until an earlier request has its reply. The message therefore does not count toward {@link #full},
     * which could prevent this reply.
     */
    public synchronized void holdPush(long bytes) {
        pushedBytes += bytes;
        holdReply(bytes);
    }

    /** Returns the number of bytes held for replies and messages. */
    public long replyBytes() {
        return replyBytes;
    }

    /** Whether the client must receive more of its replies before further requests may run. */
    public boolean full() {
        return ownReplyBytes >= FULL_REPLY_BYTES;
    }

    /**
     * Whether there is space for a large reply. If there is none, the action of {@link #onRoom} runs when there is
     * space again.
     */
    public boolean room() {
        return budget.hasReplyRoom(this);
    }

    /**
     * Whether a reply or message of this size may be created, because there is space for replies or because the replies
     * of the connection remain smaller than {@link #LITTLE_REPLY_BYTES}.
     */
    public boolean mayReply(long bytes) {
        return replyBytes() + bytes < LITTLE_REPLY_BYTES || room();
    }

    /** Runs the action on the event loop when there is space for replies, unless the connection has closed by then. */
    public void whenRoom(Runnable action) {
        whenRoom.add(action);
        if (room()) {
            wake();
        }
        if (closed) {
            whenRoom.clear();
        }
    }

    /**
     * Reserves memory for a registration of a waiting client, such as a subscription. Returns false if this would
     * exceed the limit for the connection, for its address, or for all connections.
     */
    public synchronized boolean reserveWait(long bytes) {
        if (!closed) {
            if (!budget.reserveWait(peer, waitBytes, bytes)) {
                return false;
            }
            waitBytes += bytes;
        }
        return true;
    }

    public synchronized void releaseWait(long bytes) {
        if (!closed) {
            waitBytes -= bytes;
            budget.releaseWait(peer, bytes);
        }
    }

    /**
     * Whether the connection is waiting for the rest of a request, and the client has made no progress since the given
     * time. A connection whose complete request is waiting, or whose client receives no replies, is considered idle
     * only if the connection holds more than {@code littleBytes}. Callable on any thread.
     */
    boolean idleSince(long nanos, long littleBytes) {
        long held = requestBytes;
        boolean much = held > littleBytes;
        return held > 0 && clientsTurn && progressNanos - nanos <= 0
                || much && waitsLong()
                || much && !channel.isWritable() && stalledSince(nanos);
    }

    /** Whether the connection holds at most {@code littleBytes} and is not waiting for the rest of a request. */
    boolean waitsWithLittle(long littleBytes) {
        return !clientsTurn && requestBytes <= littleBytes;
    }

    /**
     * Whether a request whose client chooses the waiting time has been waiting for at least {@link
     * MemoryBudget#fullIdleTimeout}.
     */
    private boolean waitsLong() {
        return waitingNanos.getAsLong() >= budget.fullIdleTimeout.toNanos();
    }

    /** Whether the connection holds replies, and the client has received none of their bytes since the given time. */
    synchronized boolean stalledSince(long nanos) {
        return replyBytes > 0 && repliesProgressNanos - nanos <= 0;
    }

    /**
     * Marks the connection as selected for closing. Returns false if it was already marked. For the budget's timer
     * only.
     */
    boolean condemn() {
        boolean first = !condemned;
        condemned = true;
        return first;
    }

    /** Ends the connection, because its client is idle while other connections need the memory of its requests. */
    void closeIdle() {
        long left = LINES.next();
        if (left >= 0) {
            LOG.warn(
                    "closing {}: its requests hold {} bytes, its client has neither sent {} bytes nor received a reply"
                            + " for {}, and the requests of all connections are at their limit ({} more since the last"
                            + " line)",
                    channel.remoteAddress(),
                    requestBytes,
                    PROGRESS_BYTES,
                    budget.fullIdleTimeout,
                    left);
        }
        channel.eventLoop().execute(() -> {
            if (clientsTurn) {
                onIdle.run();
            } else {
                channel.close();
            }
        });
    }

    /**
     * Closes the connection, because its client receives nothing while other connections need the memory of its
     * replies.
     */
    void closeStalled() {
        LOG.warn(
                "closing {}: its client has received none of {} bytes of replies for {}, and the replies of all"
                        + " connections are at their limit",
                channel.remoteAddress(),
                replyBytes(),
                MemoryBudget.FULL_STALL_TIMEOUT);
        channel.close();
    }

    /**
     * Resumes the work that is waiting for memory, because memory may be free now. Callable on any thread, even on a
     * thread that holds the lock of another connection.
     */
    void wake() {
        if (channel.isActive()) {
            channel.eventLoop().execute(onRoom);
            // An action for which there is still no space is queued again.
            for (Runnable next = whenRoom.poll(); next != null; next = whenRoom.poll()) {
                channel.eventLoop().execute(next);
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        context.fireChannelInactive();
        close();
    }

    /** Releases all memory, stops counting, and discards further input. */
    void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            budget.addReplies(-replyBytes);
            replyBytes = 0;
            ownReplyBytes = 0;
            budget.releaseWait(peer, waitBytes);
        }
        addRequests(-requestBytes);
        budget.closed(this);
        whenRoom.clear();
        paused = false;
    }
}
