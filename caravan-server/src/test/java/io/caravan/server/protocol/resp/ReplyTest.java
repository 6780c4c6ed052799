package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.redis.ArrayRedisMessage;
import io.netty.handler.codec.redis.ErrorRedisMessage;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.IntegerRedisMessage;
import io.netty.handler.codec.redis.RedisArrayAggregator;
import io.netty.handler.codec.redis.RedisBulkStringAggregator;
import io.netty.handler.codec.redis.RedisDecoder;
import io.netty.handler.codec.redis.RedisMessage;
import io.netty.handler.codec.redis.SimpleStringRedisMessage;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Uses a third-party decoder to test the encoding of replies. */
class ReplyTest {

    private static String read(Reply reply) {
        ByteBuf bytes = Unpooled.buffer();
        reply.encode(bytes, false);
        EmbeddedChannel channel =
                new EmbeddedChannel(new RedisDecoder(), new RedisBulkStringAggregator(), new RedisArrayAggregator());
        channel.writeInbound(bytes);
        RedisMessage message = channel.readInbound();
        String text = format(message);
        assertThat((Object) channel.readInbound()).isNull();
        channel.finishAndReleaseAll();
        return text;
    }

    private static String format(RedisMessage message) {
        if (message instanceof SimpleStringRedisMessage simple) {
            return "+" + simple.content();
        } else if (message instanceof ErrorRedisMessage error) {
            return "-" + error.content();
        } else if (message instanceof IntegerRedisMessage number) {
            return ":" + number.value();
        } else if (message instanceof FullBulkStringRedisMessage bulk) {
            return bulk.isNull() ? "null" : "$" + bulk.content().toString(UTF_8);
        }
        return ((ArrayRedisMessage) message)
                .children().stream().map(ReplyTest::format).collect(Collectors.joining(",", "[", "]"));
    }

    @Test
    void thirdPartyDecoderReadsReplies() {
        assertThat(read(Reply.OK)).isEqualTo("+OK");
        assertThat(read(new Reply.Error("ERR two\r\nlines"))).isEqualTo("-ERR two  lines");
        assertThat(read(Reply.Bulk.of("h\u00e9llo\r\n"))).isEqualTo("$h\u00e9llo\r\n");
        assertThat(read(Reply.Bulk.of(""))).isEqualTo("$");
        assertThat(read(Reply.Null.BULK)).isEqualTo("null");
        assertThat(read(new Reply.Array(List.of(new Reply.Number(1), Reply.Array.EMPTY, Reply.Bulk.of("x")))))
                .isEqualTo("[:1,[],$x]");
    }

    private static String bytes(boolean resp3, Reply reply) {
        ByteBuf bytes = Unpooled.buffer();
        reply.encode(bytes, resp3);
        return bytes.toString(UTF_8).replace("\r\n", "~");
    }

    private static void forms(Reply reply, String resp2, String resp3) {
        assertThat(bytes(false, reply)).isEqualTo(resp2);
        assertThat(bytes(true, reply)).isEqualTo(resp3);
    }

    @Test
    void encodesResp3TypesAsNearestResp2Types() {
        forms(Reply.Null.BULK, "$-1~", "_~");
        forms(Reply.Null.ARRAY, "*-1~", "_~");
        forms(new Reply.Bool(true), ":1~", "#t~");
        forms(new Reply.Bool(false), ":0~", "#f~");
        forms(new Reply.Verbatim("h\u00e9"), "$3~h\u00e9~", "=7~txt:h\u00e9~");
        forms(Reply.Array.set(List.of(new Reply.Number(1))), "*1~:1~", "~1~:1~");
        forms(Reply.map("k", new Reply.Array(List.of(Reply.Null.BULK))), "*2~$1~k~*1~$-1~", "%1~$1~k~*1~_~");
    }

    @Test
    void encodesNumbersOfAnyLength() {
        for (long number : new long[] {0, 9, 10, 99, 1_000, Long.MAX_VALUE, -1, -10, Long.MIN_VALUE}) {
            assertThat(read(new Reply.Number(number))).isEqualTo(":" + number);
        }
    }
}
