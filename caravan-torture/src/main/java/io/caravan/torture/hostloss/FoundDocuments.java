package io.caravan.torture.hostloss;

import io.caravan.bench.client.RespConnection;
import io.caravan.bench.client.RespConnection.Reply;
import io.caravan.torture.model.ListModel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the restored documents from a server to which no client writes. */
final class FoundDocuments implements AutoCloseable {
    private final RespConnection connection;

    FoundDocuments(InetSocketAddress server) throws IOException {
        connection = new RespConnection(server);
    }

    /** Returns the number of documents. */
    long count() throws IOException {
        return number(connection.call("DBSIZE").text());
    }

    /** Reads a complete document; returns null if it does not exist. */
    @Nullable
    ListModel read(byte[] name) throws IOException {
        List<byte[]> info =
                connection.call(RespConnection.ascii("CARAVAN.INFO"), name).values();
        if (info == null) {
            return null;
        }
        Reply values = connection.call(
                RespConnection.ascii("LRANGE"), name, RespConnection.ascii("0"), RespConnection.ascii("-1"));
        List<byte[]> all = values.values();
        return document(field(info, "first"), field(info, "next"), all == null ? List.of() : all);
    }

    /** Assembles a document from its sequences and its values, and checks that there is one value for each sequence. */
    static ListModel document(long first, long next, List<byte[]> values) throws IOException {
        ListModel list = new ListModel(first);
        values.forEach(value -> list.append(ByteBuffer.wrap(value), "another value of " + value.length + " bytes"));
        if (list.nextSequence() != next) {
            throw new IOException("CARAVAN.INFO gives the sequences from " + first + " to " + next
                    + ", exclusive, but LRANGE returns " + values.size() + " values");
        }
        return list;
    }

    private static long field(List<byte[]> info, String name) throws IOException {
        for (int i = 0; i + 1 < info.size(); i += 2) {
            if (text(info.get(i)).equals(name)) {
                return number(text(info.get(i + 1)));
            }
        }
        throw new IOException("CARAVAN.INFO of the server does not contain '" + name + "'");
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static long number(@Nullable String text) throws IOException {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException other) {
            throw new IOException("the server replied " + text + " instead of a number", other);
        }
    }

    @Override
    public void close() throws IOException {
        connection.close();
    }
}
