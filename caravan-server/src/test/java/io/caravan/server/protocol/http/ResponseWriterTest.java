package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.net.Unbounded;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.time.Instant;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.Test;

/** Tests the response headers that depend on the connection or the time. */
class ResponseWriterTest {
    private static String scheme(EmbeddedChannel channel) {
        DefaultHttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.PUT, "/");
        return new ResponseWriter(
                        channel,
                        Unbounded.memory(channel),
                        head,
                        new Origins(HttpConfig.of(new InetSocketAddress(0), 1, 1 << 20), true, host -> false),
                        () -> false)
                .scheme();
    }

    @Test
    void usesHttpsSchemeOverTls() throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(false);
        EmbeddedChannel secured = new EmbeddedChannel(new SslHandler(engine));
        EmbeddedChannel plain = new EmbeddedChannel();
        assertThat(scheme(secured)).isEqualTo("https");
        assertThat(scheme(plain)).isEqualTo("http");
        secured.close();
        plain.close();
    }

    @Test
    void formatsHttpDates() {
        long millis = Instant.parse("1994-11-06T08:49:37Z").toEpochMilli();
        assertThat(ResponseWriter.date(millis)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
        assertThat(ResponseWriter.date(millis + 999)).isEqualTo(ResponseWriter.date(millis));
        assertThat(ResponseWriter.date(millis + 1000)).isEqualTo("Sun, 06 Nov 1994 08:49:38 GMT");
        assertThat(ResponseWriter.date(millis)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
