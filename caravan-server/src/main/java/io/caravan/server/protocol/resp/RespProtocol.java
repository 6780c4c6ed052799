package io.caravan.server.protocol.resp;

import io.caravan.server.archive.push.Archiver;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.document.DocumentService;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.AnswerMemory;
import io.caravan.server.net.Connection;
import io.caravan.server.net.InFlight;
import io.caravan.server.net.WireProtocol;
import io.caravan.server.protocol.resp.codec.RespLimits;
import io.caravan.server.protocol.resp.commands.ServerStatus;
import io.caravan.server.security.Authenticator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** RESP, for listeners. */
public final class RespProtocol implements WireProtocol {
    private final RespService service;

    /**
     * Makes the protocol over some documents.
     *
     * @param archiver null when they are not archived
     * @param restores null when there is no archive to restore them from
     * @param readers where reads run, which may wait
     * @param authenticator tells who clients are
     * @param metrics counts requests and connections
     */
    public RespProtocol(
            RespLimits limits,
            DocumentService documents,
            @Nullable Archiver archiver,
            @Nullable RestoreService restores,
            ServerStatus status,
            Executor readers,
            Authenticator authenticator,
            ServerMetrics metrics) {
        this.service = new RespService(documents, archiver, restores, status, readers, limits, authenticator, metrics);
    }

    @Override
    public Connection connect(Channel channel, InFlight inFlight, AnswerMemory answers) {
        RespHandler handler = new RespHandler(channel, service, inFlight, answers);
        channel.pipeline().addLast(handler.decoder(), handler);
        return handler;
    }

    /** Clients keep connections in pools, and do not expect them to end. */
    @Override
    public Duration idleTimeout() {
        return Duration.ZERO;
    }

    @Override
    public ByteBuf tooManyConnections() {
        return Unpooled.copiedBuffer("-ERR max number of clients reached\r\n", StandardCharsets.US_ASCII);
    }
}
