package io.caravan.server.cli.carry;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.client.Carrier.Description;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Map;

/** The export of one document as text. */
final class ExportText {
    private ExportText() {}

    static String of(Map<String, Object> attributes, String name, long first, String... values) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] raw = name.getBytes(UTF_8);
        Description document = new Description(0, first, first + values.length, -1, attributes);
        DocumentSum sum = new DocumentSum(raw, document);
        try {
            ExportWriter writer = new ExportWriter(out);
            writer.begin(raw, document);
            for (String value : values) {
                writer.value(first + sum.count(), value.getBytes(UTF_8));
                sum.value(value.getBytes(UTF_8));
            }
            writer.end(sum);
            writer.finish();
        } catch (IOException impossible) {
            throw new AssertionError(impossible);
        }
        return out.toString(UTF_8);
    }
}
