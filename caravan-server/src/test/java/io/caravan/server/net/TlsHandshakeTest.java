package io.caravan.server.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests, step by step, that another thread computes the signatures of a TLS handshake for the event loop. */
class TlsHandshakeTest {
    @TempDir
    Path directory;

    @Test
    void runsSignaturesOutsideEventLoop() throws Exception {
        X509Bundle own = new CertificateBuilder()
                .subject("CN=localhost")
                .setIsCertificateAuthority(true)
                .buildSelfSigned();
        Tls tls = new Tls(
                Files.writeString(directory.resolve("cert.pem"), own.getCertificatePathPEM()),
                Files.writeString(directory.resolve("key.pem"), own.getPrivateKeyPEM()),
                null);
        Queue<Runnable> signatures = new ArrayDeque<>();
        EmbeddedChannel server = new EmbeddedChannel();
        SslHandler handler = tls.newHandler(server.alloc(), signatures::add);
        server.pipeline().addLast(handler);
        EmbeddedChannel client = new EmbeddedChannel(SslContextBuilder.forClient()
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .build()
                .newHandler(server.alloc()));
        exchange(client, server);
        assertThat(signatures).as("what the event loop has handed over").isNotEmpty();
        assertThat(handler.handshakeFuture().isDone()).as("before it is signed").isFalse();
        while (!handler.handshakeFuture().isDone()) {
            Objects.requireNonNull(signatures.remove()).run();
            server.runPendingTasks();
            exchange(client, server);
        }
        assertThat(handler.handshakeFuture().isSuccess()).isTrue();
        client.finishAndReleaseAll();
        server.finishAndReleaseAll();
    }

    private static void exchange(EmbeddedChannel client, EmbeddedChannel server) {
        boolean more = true;
        while (more) {
            more = pass(client, server) | pass(server, client);
        }
    }

    private static boolean pass(EmbeddedChannel from, EmbeddedChannel to) {
        ByteBuf bytes = from.readOutbound();
        if (bytes == null) {
            return false;
        }
        to.writeInbound(bytes);
        to.runPendingTasks();
        return true;
    }
}
