package io.caravan.torture.server;

import io.caravan.bench.client.RespConnection;
import io.caravan.bench.client.RespConnection.Reply;
import io.caravan.torture.model.Ledger;
import io.caravan.torture.model.ListModel;
import io.caravan.torture.model.Lists;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads every list that may exist, and records its contents in the ledger. */
final class ReadingClient implements ServerSession.Clients {
    private static final Pattern DOCUMENTS = Pattern.compile("^documents:(\\d+)\r?$", Pattern.MULTILINE);

    private final Lists lists;
    private final RespCommands commands;
    private final Ledger ledger;

    ReadingClient(Lists lists, Ledger ledger) {
        this.lists = lists;
        this.commands = new RespCommands(lists);
        this.ledger = ledger;
    }

    @Override
    public void begin(InetSocketAddress server) throws IOException {
        try (RespConnection connection = new RespConnection(server)) {
            for (int worker = 0; worker < lists.workers(); worker++) {
                for (long id : lists.of(worker)) {
                    read(id, connection);
                }
            }
            checkDocuments(connection);
            ledger.listed = true;
        }
    }

    private void read(long id, RespConnection connection) throws IOException {
        List<byte[]> values = values(call(connection, commands.range(id, 0, -1)));
        String length = call(connection, commands.length(id)).text();
        if (!Integer.toString(values.size()).equals(length)) {
            ledger.problem("list " + id + ": LRANGE gives " + values.size() + " values, LLEN " + length);
        }
        if (!values.isEmpty()) {
            ListModel list = new ListModel(0);
            values.forEach(value -> list.append(ByteBuffer.wrap(value)));
            ledger.list(id, list);
        }
    }

    /**
     * Checks the number of documents that the server reports. The number includes documents whose last value was
     * trimmed, so only bounds of the number are known.
     */
    private void checkDocuments(RespConnection connection) throws IOException {
        Matcher documents = DOCUMENTS.matcher(connection.text("INFO", "keyspace"));
        int known = lists.count();
        int held = ledger.found.lists().size();
        if (!documents.find()) {
            ledger.problem("INFO does not contain the number of documents");
        } else if (Long.parseLong(documents.group(1)) > known || Long.parseLong(documents.group(1)) < held) {
            ledger.problem("INFO reports " + documents.group(1) + " documents, but " + held + " hold values, and only "
                    + known + " were ever written");
        }
    }

    private static Reply call(RespConnection connection, byte[]... words) throws IOException {
        connection.send(words);
        Reply reply = connection.receive();
        if (reply == null) {
            throw new EOFException("the server closed the connection while its contents were read");
        }
        return reply;
    }

    private static List<byte[]> values(Reply reply) throws IOException {
        List<byte[]> values = reply.values();
        if (values == null) {
            throw new IOException("while the contents were read, the server replied: " + reply.words());
        }
        return values;
    }
}
