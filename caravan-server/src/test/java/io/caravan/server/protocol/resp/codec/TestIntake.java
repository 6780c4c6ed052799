package io.caravan.server.protocol.resp.codec;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;

/** Takes requests from a known client as long as it has room; they go on through the pipeline unless it is part of it. */
final class TestIntake extends SimpleChannelInboundHandler<Request> implements RequestDecoder.Intake {
    int room = Integer.MAX_VALUE;
    int taken;
    /** Memory that it has left to grant. */
    long memory = Long.MAX_VALUE;

    @Override
    public boolean open() {
        return taken < room;
    }

    @Override
    public boolean stranger() {
        return false;
    }

    @Override
    public boolean grant(long bytes) {
        if (bytes > memory) {
            return false;
        }
        memory -= bytes;
        return true;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, Request request) {
        taken++;
    }
}
