package io.caravan.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;

/**
 * The bytes of one connection's requests that have been read and not answered. Counts what comes in. The protocol
 * reports each request that has arrived completely ({@link #requestCame}) and that all of them have been answered
 * ({@link #settle}), and reads on only when it may ({@link #mayRead}). So a connection at a limit has its answers
 * before it is read from again. Used only on the event loop, except for {@link #wake}.
 */
public final class InFlight extends ChannelDuplexHandler {
    private final Channel channel;
    private final InFlightBudget budget;
    private final long limitBytes;
    private Runnable onRoom = () -> {};
    private long heldBytes;
    private boolean onlyUnfinished;
    /** Whether a request has arrived completely since the last {@link #settle}. */
    private boolean cameWhole;

    private boolean waiting;
    /** Whether it waits with part of a request and nothing else. Others read it only once this is in the queue. */
    private boolean waitsBegun;

    private boolean paused;
    private volatile boolean closed;

    InFlight(Channel channel, InFlightBudget budget, long limitBytes) {
        this.channel = channel;
        this.budget = budget;
        this.limitBytes = limitBytes;
    }

    /** Sets what runs, on the event loop, when {@link #mayRead} has returned false and should be called again. */
    public void onRoom(Runnable action) {
        onRoom = action;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof ByteBuf bytes) {
            heldBytes += bytes.readableBytes();
            onlyUnfinished = false;
            budget.take(bytes.readableBytes());
            if (budget.full() || heldBytes >= limitBytes) {
                // Or the socket would be read several times before the protocol is asked.
                paused = true;
                channel.config().setAutoRead(false);
            }
        }
        context.fireChannelRead(message);
    }

    /** Netty's decoders ask for more whenever they have part of a message, though the socket is not to be read. */
    @Override
    public void read(ChannelHandlerContext context) {
        if (!paused) {
            context.read();
        }
    }

    public void requestCame() {
        cameWhole = true;
    }

    /** All requests that arrived completely have been answered; {@code unfinishedBytes} are held of one that has not. */
    public void settle(long unfinishedBytes) {
        if (closed) {
            return;
        }
        onlyUnfinished = true;
        budget.give(heldBytes - unfinishedBytes);
        heldBytes = unfinishedBytes;
        if (cameWhole || heldBytes == 0) {
            cameWhole = false;
            budget.settled(this);
        }
    }

    /**
     * Whether more may be read. A request that has begun may be finished, up to the limit of its length, whatever the
     * connection's limit; when all connections together are at theirs, only one at a time goes on.
     */
    public boolean mayRead() {
        boolean begun = onlyUnfinished && heldBytes > 0;
        paused = !onlyUnfinished && heldBytes >= limitBytes || !budget.admits(this, begun) && !admitsOrWait(begun);
        return !paused;
    }

    /** Asks again once it is known to wait, as what it waits for may just have come. */
    private boolean admitsOrWait(boolean begun) {
        if (waiting) {
            return false;
        }
        waiting = true;
        waitsBegun = begun;
        budget.await(this);
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
        budget.settled(this);
        paused = false;
    }
}
