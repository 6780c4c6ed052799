package io.caravan.torture.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the components of a replay: traces, text buffers, and the encoding of entries. */
class TraceTest {
    private static final Trace TRACE = TraceGenerator.generate(1, 2_000);

    @TempDir
    private Path directory;

    @Test
    void transactionsProduceEndContent() {
        assertThat(TRACE.textAfter(TRACE.transactions().size())).hasToString(TRACE.endContent());
    }

    @Test
    void readsTraceAsWritten() throws IOException {
        Path file = directory.resolve("trace.json.gz");
        TraceGenerator.write(TRACE, file);
        Trace read = Trace.read(file);
        assertThat(read.endContent()).isEqualTo(TRACE.endContent());
        assertThat(inWords(read)).isEqualTo(inWords(TRACE));
    }

    /** Returns the transactions as text, because the arrays in patches have no {@code equals}. */
    private static List<String> inWords(Trace trace) {
        return trace.transactions().stream()
                .map(patches -> patches.stream()
                        .map(patch ->
                                patch.position() + " " + patch.deleted() + " " + Arrays.toString(patch.inserted()))
                        .toList()
                        .toString())
                .toList();
    }

    @Test
    void rejectsTraceWithWrongEndContent() throws IOException {
        Path file = directory.resolve("trace.json.gz");
        TraceGenerator.write(new Trace("", TRACE.endContent() + "x", TRACE.transactions()), file);
        assertThatThrownBy(() -> Trace.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("endContent");
    }

    @Test
    void rejectsNonGzipFile() throws IOException {
        Path file = directory.resolve("trace.json.gz");
        Files.writeString(file, "no gzip");
        assertThatThrownBy(() -> Trace.read(file)).isInstanceOf(IOException.class);
    }

    @Test
    void rebuildsDocumentFromTransactionsOnly() {
        assertThat(rebuild(entries(0, 700)).text()).isEqualTo(TRACE.textAfter(700));
    }

    @Test
    void rebuildsDocumentFromSnapshotAndTransactions() {
        List<byte[]> entries = new ArrayList<>(List.of(Entries.snapshot(500, TRACE.textAfter(500))));
        entries.addAll(entries(500, 700));
        assertThat(rebuild(entries).text()).isEqualTo(TRACE.textAfter(700));
        assertThat(rebuild(entries).transactions()).isEqualTo(700);
    }

    @Test
    void detectsMissingTransaction() {
        List<byte[]> entries = entries(0, 10);
        entries.remove(5);
        assertThatThrownBy(() -> rebuild(entries)).hasMessageContaining("transaction 6 in place of 5");
    }

    @Test
    void detectsSnapshotOfDifferentText() {
        List<byte[]> entries = entries(0, 10);
        entries.add(Entries.snapshot(10, TRACE.textAfter(9)));
        assertThatThrownBy(() -> rebuild(entries)).hasMessageContaining("a different text");
    }

    private static ReplayedDocument rebuild(List<byte[]> entries) {
        return ReplayedDocument.rebuild("", entries);
    }

    private static List<byte[]> entries(int from, int to) {
        List<byte[]> entries = new ArrayList<>();
        for (int i = from; i < to; i++) {
            entries.add(Entries.transaction(i, TRACE.transactions().get(i)));
        }
        return entries;
    }
}
