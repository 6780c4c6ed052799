package io.caravan.bench.seeds;

import io.caravan.Durability;
import io.caravan.WriteBatch;
import io.caravan.bench.Directories;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Turn;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;

/** Writes JSON documents from a file, one a line, to a list each, in batches of 1,000 that are each waited for. */
record BatchedWrites(String name, int documents) implements Work {
    private static final double NANOS_PER_SECOND = 1e9;

    @Override
    public Measurement run(Turn turn, Durability level) throws IOException, InterruptedException, ExecutionException {
        Path file = turn.work().resolve("documents.jsonl");
        write(file);
        try (FreshStore fresh = new FreshStore(turn, level);
                BufferedReader lines = Files.newBufferedReader(file)) {
            long start = System.nanoTime();
            int id = 0;
            WriteBatch batch = WriteBatch.create();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                batch.append(id++, line.getBytes(StandardCharsets.UTF_8));
                if (id % FreshStore.BATCH == 0) {
                    fresh.write(batch);
                    batch = WriteBatch.create();
                }
            }
            fresh.write(batch);
            double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
            return new Measurement()
                    .with(Figure.APPENDS_PER_SECOND, documents / seconds)
                    .with(Figure.SECONDS, seconds);
        } finally {
            Directories.delete(file);
        }
    }

    private void write(Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < documents; i++) {
            lines.add(new String(FreshStore.document(i), StandardCharsets.US_ASCII));
        }
        Files.write(file, lines);
    }
}
