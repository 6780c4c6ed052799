package io.caravan.server.net;

import io.caravan.server.config.FileWatch;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TLS configuration of a listener, read from PEM files and reloaded when they change. New connections use the new
 * certificate, and open connections keep the old one.
 */
public final class Tls extends FileWatch {
    private static final Logger LOG = LoggerFactory.getLogger(Tls.class);

    private final Path certificate;
    private final Path key;
    private final @Nullable Path clientAuthority;
    private volatile SslContext context;

    /**
     * Reads the certificate, followed by the intermediate certificates, and its private key, in PKCS #8 without a
     * password. Clients need a certificate of a {@code clientAuthority}, unless that is null. Throws {@link
     * IOException} if a file cannot be read or is invalid.
     */
    public Tls(Path certificate, Path key, @Nullable Path clientAuthority) throws IOException {
        super(clientAuthority == null ? List.of(certificate, key) : List.of(certificate, key, clientAuthority));
        this.certificate = certificate;
        this.key = key;
        this.clientAuthority = clientAuthority;
        this.context = read();
    }

    private SslContext read() throws IOException {
        for (Path file : files()) {
            PemPair.requireReadable(file);
        }
        PemPair pair = PemPair.read(certificate, key);
        try {
            SslContextBuilder builder = SslContextBuilder.forServer(pair.certificate(), pair.key())
                    .sslProvider(SslProvider.JDK)
                    .protocols("TLSv1.3", "TLSv1.2");
            if (clientAuthority != null) {
                builder.trustManager(clientAuthority.toFile()).clientAuth(ClientAuth.REQUIRE);
            }
            return builder.build();
        } catch (SSLException | IllegalArgumentException wrong) {
            throw new IOException(PemPair.unusable(certificate, key, wrong), wrong);
        }
    }

    @Override
    public void reload() throws IOException {
        context = read();
        LOG.info("read file '{}' again: new connections get its certificate", certificate);
    }

    /**
     * Creates a TLS handler. The threads of {@code signers} compute the signatures, because one signature takes as long
     * as many requests.
     */
    SslHandler newHandler(ByteBufAllocator allocator, Executor signers) {
        return context.newHandler(allocator, signers);
    }

    /**
     * Closes a connection on a TLS failure, and logs the failure. If the client sends plain text, the log line does not
     * contain the exception, which includes the client's input and may thus reveal a secret.
     */
    static final class Failures extends ChannelInboundHandlerAdapter {
        private static final LogRateLimiter LINES = new LogRateLimiter();

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable problem) {
            Throwable cause =
                    problem instanceof DecoderException && problem.getCause() != null ? problem.getCause() : problem;
            if (cause instanceof SSLException) {
                long left = LINES.next();
                if (left >= 0) {
                    LOG.info(
                            "closing {}: {} ({} more since the last line)",
                            context.channel().remoteAddress(),
                            cause instanceof NotSslRecordException
                                    ? "the client does not use TLS"
                                    : "TLS failed: " + cause,
                            left);
                }
                context.close();
            } else {
                context.fireExceptionCaught(problem);
            }
        }
    }
}
