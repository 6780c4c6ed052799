package io.caravan.bench.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpResponseDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients that follow a stream parse the server's output, however it is split. */
class TailTest {
    private static final String EVENTS = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ";

    private final List<Long> stamps = new ArrayList<>();
    private final EmbeddedChannel channel = new EmbeddedChannel(new HttpResponseDecoder());
    private final HttpLink link = new HttpLink(channel);

    @BeforeEach
    void connect() {
        channel.pipeline().addLast(link);
    }

    @Test
    void readsValuesFromEventsHoweverTheyAreCut() {
        String body = "event: data\ndata: " + value(7) + value(8) + "\n\nevent: control\n"
                + "data: {\"streamNextOffset\":\"2_0\",\"upToDate\":true}\n\n: nothing new\n\n"
                + "event: data\ndata:" + value(9) + "\n\nevent: control\ndata:{\"streamNextOffset\":\"3_0\"}\n\n";
        Tail tail = new EventStreamTail(link, "s", "0_0", stamps::add);
        tail.ask();
        assertThat(sent()).startsWith("GET /v1/stream/s?offset=0_0&live=sse ");
        for (byte each : (EVENTS + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.US_ASCII)) {
            channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {each}));
        }
        assertThat(stamps).containsExactly(7L, 8L, 9L);
        assertThat(sent()).startsWith("GET /v1/stream/s?offset=3_0&live=sse ");
        assertThat(tail.problem()).isNull();
    }

    @Test
    void asksAgainWhereAPollEnded() {
        Tail tail = new LongPollTail(link, "s", "0_0", stamps::add);
        tail.ask();
        sent();
        receive("HTTP/1.1 200 OK\r\nStream-Next-Offset: 2_0\r\nContent-Length: 400\r\n\r\n" + value(1) + value(2));
        assertThat(stamps).containsExactly(1L, 2L);
        assertThat(sent()).startsWith("GET /v1/stream/s?offset=2_0&live=long-poll ");
        receive("HTTP/1.1 204 No Content\r\nStream-Next-Offset: 2_0\r\n\r\n");
        assertThat(sent()).startsWith("GET /v1/stream/s?offset=2_0&live=long-poll ");
        assertThat(stamps).hasSize(2);
    }

    @Test
    void saysWhyItEnds() {
        Tail refused = new LongPollTail(link, "s", "0_0", stamps::add);
        refused.ask();
        receive("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone");
        assertThat(refused.problem()).contains("404");
        Tail cutOff = new EventStreamTail(link, "s", "0_0", stamps::add);
        cutOff.ask();
        channel.close();
        assertThat(cutOff.problem()).contains("closed");
    }

    private void receive(String response) {
        channel.writeInbound(Unpooled.copiedBuffer(response, StandardCharsets.US_ASCII));
    }

    private String sent() {
        ByteBuf request = channel.readOutbound();
        String text = request.toString(StandardCharsets.US_ASCII);
        request.release();
        return text;
    }

    private static String value(long stamp) {
        return new String(StampedValue.of(stamp), StandardCharsets.US_ASCII);
    }
}
