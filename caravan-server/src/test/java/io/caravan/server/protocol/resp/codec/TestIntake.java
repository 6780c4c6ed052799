package io.caravan.server.protocol.resp.codec;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;

/** Takes requests from a known client as long as it has room; they go on through the pipeline unless it is part of it. */
final class TestIntake extends SimpleChannelInboundHandler<Request> implements RequestDecoder.Intake {
    int room = Integer.MAX_VALUE;
    int taken;

    @Override
    public boolean open() {
        return taken < room;
    }

    @Override
    public boolean stranger() {
        return false;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, Request request) {
        taken++;
    }
}
