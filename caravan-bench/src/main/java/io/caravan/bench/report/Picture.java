package io.caravan.bench.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.internal.chartpart.Chart;

/**
 * One picture of a report.
 *
 * @param name name of the picture's files, in lower case with hyphens
 * @param title title above the picture
 * @param caption how to read the picture, in one or two sentences without markup
 */
public record Picture(String name, String title, String caption, Chart<?, ?> chart) {

    /** Writes a PNG and an SVG, whose names start with the given prefix. */
    void writeTo(Path directory, String prefix) throws IOException {
        String file = directory.resolve(prefix + name).toString();
        try {
            BitmapEncoder.saveBitmap(chart, file, BitmapFormat.PNG);
            VectorGraphicsEncoder.saveVectorGraphic(chart, file, VectorGraphicsFormat.SVG);
        } catch (UncheckedIOException problem) {
            throw new IOException("cannot draw " + file, problem);
        }
    }
}
