package io.caravan.server.protocol.http;

import io.netty.util.AsciiString;

/** The headers of the Durable Streams protocol and of its extensions. */
public final class StreamHeaders {
    public static final AsciiString NEXT_OFFSET = AsciiString.cached("Stream-Next-Offset");
    /** An extension of the protocol: the offset of the first retained value. */
    public static final AsciiString FIRST_OFFSET = AsciiString.cached("Stream-First-Offset");

    /** An extension of the protocol: the offset that the first appended value must get. */
    public static final AsciiString IF_OFFSET = AsciiString.cached("Stream-If-Offset");

    /** An extension of the protocol: the durability of a stream's writes, if it is lower than the server's. */
    public static final AsciiString DURABILITY = AsciiString.cached("Stream-Durability");

    public static final AsciiString UP_TO_DATE = AsciiString.cached("Stream-Up-To-Date");
    public static final AsciiString CLOSED = AsciiString.cached("Stream-Closed");
    public static final AsciiString CURSOR = AsciiString.cached("Stream-Cursor");
    public static final AsciiString SEQ = AsciiString.cached("Stream-Seq");
    public static final AsciiString TTL = AsciiString.cached("Stream-TTL");
    public static final AsciiString EXPIRES_AT = AsciiString.cached("Stream-Expires-At");
    public static final AsciiString FORKED_FROM = AsciiString.cached("Stream-Forked-From");
    public static final AsciiString FORK_OFFSET = AsciiString.cached("Stream-Fork-Offset");
    public static final AsciiString FORK_SUB_OFFSET = AsciiString.cached("Stream-Fork-Sub-Offset");
    public static final AsciiString SSE_DATA_ENCODING = AsciiString.cached("Stream-SSE-Data-Encoding");
    static final AsciiString PRODUCER_ID = AsciiString.cached("Producer-Id");
    public static final AsciiString PRODUCER_EPOCH = AsciiString.cached("Producer-Epoch");
    public static final AsciiString PRODUCER_SEQ = AsciiString.cached("Producer-Seq");
    static final AsciiString PRODUCER_EXPECTED_SEQ = AsciiString.cached("Producer-Expected-Seq");
    static final AsciiString PRODUCER_RECEIVED_SEQ = AsciiString.cached("Producer-Received-Seq");

    private StreamHeaders() {}
}
