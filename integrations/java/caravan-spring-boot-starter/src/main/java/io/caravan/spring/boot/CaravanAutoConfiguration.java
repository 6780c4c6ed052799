package io.caravan.spring.boot;

import io.caravan.DurableListStore;
import io.caravan.ListStore;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Opens a {@link DurableListStore} with the settings in {@link CaravanProperties}, and closes it together with the
 * application context, unless the application defines its own store.
 */
@AutoConfiguration
@EnableConfigurationProperties(CaravanProperties.class)
public class CaravanAutoConfiguration {

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean(ListStore.class)
    DurableListStore caravanStore(CaravanProperties properties) {
        return DurableListStore.open(properties.toConfig());
    }
}
