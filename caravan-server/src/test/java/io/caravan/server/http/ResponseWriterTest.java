package io.caravan.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.ssl.SslHandler;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.Test;

/** What responses tell of the connection that they go over. */
class ResponseWriterTest {
    private static String scheme(EmbeddedChannel channel) {
        DefaultHttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.PUT, "/");
        return new ResponseWriter(channel, head, HttpFixture.ANY_ORIGIN, () -> false).scheme();
    }

    @Test
    void locationsAreHttpsOverTls() throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(false);
        EmbeddedChannel secured = new EmbeddedChannel(new SslHandler(engine));
        EmbeddedChannel plain = new EmbeddedChannel();
        assertThat(scheme(secured)).isEqualTo("https");
        assertThat(scheme(plain)).isEqualTo("http");
        secured.close();
        plain.close();
    }
}
