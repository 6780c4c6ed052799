package io.caravan.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * The bytes of one connection's requests that have been read and not answered. Counts what comes in; the protocol tells
 * when all of it has been answered ({@link #settle}), and reads on only when it may ({@link #mayRead}). A connection at a
 * limit has therefore its answers before it is read from again. The event loop's alone, but for {@link #wake}.
 */
public final class InFlight extends ChannelInboundHandlerAdapter {
    private final Channel channel;
    private final InFlightBudget budget;
    private final long limitBytes;
    private Runnable onRoom = () -> {};
    private long heldBytes;
    private boolean onlyUnfinished;
    private boolean waiting;
    private boolean closed;

    InFlight(Channel channel, InFlightBudget budget, long limitBytes) {
        this.channel = channel;
        this.budget = budget;
        this.limitBytes = limitBytes;
    }

    /** Sets what is run, on the event loop, when {@link #mayRead} has said no and is to be asked again. */
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
                channel.config().setAutoRead(false);
            }
        }
        context.fireChannelRead(message);
    }

    /**
     * Every request that has come whole has been answered.
     *
     * @param unfinishedBytes what is held of one that has not
     */
    public void settle(long unfinishedBytes) {
        if (closed) {
            return;
        }
        onlyUnfinished = true;
        budget.give(heldBytes - unfinishedBytes);
        heldBytes = unfinishedBytes;
        if (heldBytes == 0) {
            budget.settled(this);
        }
    }

    /**
     * Whether more may be read. A request that has begun may come whole, which the limit of its length bounds, whatever
     * the connection's limit; when all connections together are at theirs, only one at a time goes on.
     */
    public boolean mayRead() {
        return (onlyUnfinished || heldBytes < limitBytes) && (waiting ? !budget.full() : mayReadOrWait());
    }

    private boolean mayReadOrWait() {
        waiting = !budget.mayRead(this, onlyUnfinished && heldBytes > 0);
        return !waiting;
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
        settle(0);
        closed = true;
    }
}
