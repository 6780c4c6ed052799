package io.caravan.server.net;

import io.caravan.server.config.FileWatch;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS by files in PEM format, which are read again when they change: new connections get the new certificate, open ones
 * keep theirs.
 */
public final class Tls implements FileWatch.Reloadable {
    private static final Logger LOG = LoggerFactory.getLogger(Tls.class);

    private final Path certificate;
    private final Path key;
    private final @Nullable Path clientAuthority;
    private volatile SslContext context;

    /**
     * Reads the files.
     *
     * @param certificate the server's certificate, and those between it and the authority's
     * @param key its private key, in PKCS #8, without a password
     * @param clientAuthority certificates of those who vouch for clients, each of which then needs one; or null
     * @throws IOException when one cannot be read or they are wrong; the message says which
     */
    public Tls(Path certificate, Path key, @Nullable Path clientAuthority) throws IOException {
        this.certificate = certificate;
        this.key = key;
        this.clientAuthority = clientAuthority;
        this.context = read();
    }

    private SslContext read() throws IOException {
        for (Path file : files()) {
            if (!Files.isReadable(file)) {
                throw new IOException("the file " + file + ", for TLS, does not exist or may not be read");
            }
        }
        try {
            SslContextBuilder builder = SslContextBuilder.forServer(certificate.toFile(), key.toFile())
                    .sslProvider(SslProvider.JDK)
                    .protocols("TLSv1.3", "TLSv1.2");
            if (clientAuthority != null) {
                builder.trustManager(clientAuthority.toFile()).clientAuth(ClientAuth.REQUIRE);
            }
            return builder.build();
        } catch (SSLException | IllegalArgumentException wrong) {
            throw new IOException(
                    "the certificate in " + certificate + " and the key in " + key
                            + " cannot be used (both must be PEM, the key PKCS #8 without a password, and belong together): "
                            + wrong.getMessage(),
                    wrong);
        }
    }

    @Override
    public List<Path> files() {
        return Stream.of(certificate, key, clientAuthority)
                .<Path>mapMulti((file, into) -> {
                    if (file != null) {
                        into.accept(file);
                    }
                })
                .toList();
    }

    @Override
    public void reload() throws IOException {
        context = read();
        LOG.info("new connections get the certificate that is now in {}", certificate);
    }

    SslHandler newHandler(ByteBufAllocator allocator) {
        return context.newHandler(allocator);
    }
}
