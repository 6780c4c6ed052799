package io.caravan.bench.service;

import io.caravan.bench.load.AnswerReader;
import io.caravan.bench.load.OpenLoop.Plan;
import io.caravan.bench.load.Protocol;
import io.caravan.bench.network.Requests;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/** Appends of the Durable Streams protocol; all requests are encoded in advance. */
final class HttpAppends implements Protocol {
    /** The O of POST: such a request contains no other capital O. */
    private static final byte MARK = 'O';

    private static final byte[] ANSWER = "HTTP/1.1 204 No Content\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final List<String> streams;
    private final byte[][] requests;

    HttpAppends(Plan plan) {
        streams =
                IntStream.range(0, plan.documents()).mapToObj(i -> "load-" + i).toList();
        byte[] value = "x".repeat(plan.valueBytes()).getBytes(StandardCharsets.US_ASCII);
        requests = streams.stream()
                .map(stream -> ByteBufUtil.getBytes(Requests.append(stream, value)))
                .toArray(byte[][]::new);
    }

    /** The documents' names. */
    List<String> streams() {
        return streams;
    }

    @Override
    public byte[] append(int document) {
        return requests[document];
    }

    @Override
    public AnswerReader answers() {
        return new HttpAnswers();
    }

    @Override
    public byte mark() {
        return MARK;
    }

    @Override
    public byte[] answer() {
        return ANSWER;
    }
}
