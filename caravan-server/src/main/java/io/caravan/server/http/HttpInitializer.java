package io.caravan.server.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;

/** Sets up a new connection. */
final class HttpInitializer extends ChannelInitializer<Channel> {
    /** A name of the greatest length with each byte in three, and a query. */
    static final int MAX_LINE_BYTES = 8 * 1024;

    static final int MAX_HEADER_BYTES = 16 * 1024;
    private static final int MAX_PART_BYTES = 64 * 1024;

    private final HttpService service;
    private final ChannelGroup connections;

    HttpInitializer(HttpService service, ChannelGroup connections) {
        this.service = service;
        this.connections = connections;
    }

    /** Reads requests, and takes what could be read in two ways for none. */
    static HttpRequestDecoder decoder() {
        return new HttpRequestDecoder(new HttpDecoderConfig()
                .setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADER_BYTES)
                .setMaxChunkSize(MAX_PART_BYTES)
                .setAllowDuplicateContentLengths(false)
                .setStrictLineParsing(true)
                .setUseRfc9112TransferEncoding(true));
    }

    @Override
    protected void initChannel(Channel channel) {
        connections.add(channel);
        channel.pipeline().addLast(decoder(), new HttpResponseEncoder(), new HttpConnection(channel, service));
    }
}
