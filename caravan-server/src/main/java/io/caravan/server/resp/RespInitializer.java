package io.caravan.server.resp;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;

/** Sets up a new connection. */
final class RespInitializer extends ChannelInitializer<Channel> {
    private final RespService service;
    private final RespLimits limits;
    private final ChannelGroup connections;

    RespInitializer(RespService service, RespLimits limits, ChannelGroup connections) {
        this.service = service;
        this.limits = limits;
        this.connections = connections;
    }

    @Override
    protected void initChannel(Channel channel) {
        connections.add(channel);
        channel.pipeline().addLast(new RequestDecoder(limits), new RespHandler(channel, service));
    }
}
