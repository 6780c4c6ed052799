package io.caravan.server.protocol.resp;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;

/** An intake that accepts {@code room} requests. It consumes these requests if it is part of the pipeline. */
final class TestIntake extends SimpleChannelInboundHandler<RespRequest> implements RespRequestDecoder.Intake {
    int room = Integer.MAX_VALUE;
    int taken;
    /** The number of bytes that the intake may still grant to requests. */
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
    protected void channelRead0(ChannelHandlerContext context, RespRequest request) {
        taken++;
    }
}
