/* list_devices.c - a program of a user: prints the notes about missing devices, then "N devices". Built by the tests of
 * installed and embedded libraries. */
#include <fathom/fathom.h>
#include <stdio.h>

int main(void) {
    fathom_device_list *list = NULL;
    const char *note;
    if (fathom_device_list_make(&list))
        return 1;
    for (int i = 0; (note = fathom_device_list_note(list, i)); i++)
        puts(note);
    printf("%d devices\n", fathom_device_list_count(list));
    fathom_device_list_free(list);
    return 0;
}
